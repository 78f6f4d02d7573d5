"""The HTTP service: routes, keys, errors and streaming over `sessions`. Nothing here knows SQL or decides anything."""
