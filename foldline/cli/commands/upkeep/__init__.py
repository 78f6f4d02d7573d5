"""The commands that keep a database in order."""
