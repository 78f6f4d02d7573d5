"""What bounds a request: the memory of bodies, the values of its JSON, and the places of large ones."""
