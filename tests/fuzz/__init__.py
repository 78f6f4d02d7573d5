"""Requests that nobody would write, sent to a real service for as long as one likes: `make fuzz`."""
