"""Removing for good: all that a tenant has, and what the database's files still hold of what was deleted."""
