"""Programs that run a peer: each takes a job from its standard input and prints seconds, with Python or Node alone."""
