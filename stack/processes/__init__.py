"""Processes that end when their starter ends, and that are restarted when they die."""
