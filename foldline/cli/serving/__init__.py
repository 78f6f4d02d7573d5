"""Runs the API and what belongs to it, for the commands that serve it: in this process, in several, beside a worker."""
