"""A coding agent's session in a small window, to look at."""
