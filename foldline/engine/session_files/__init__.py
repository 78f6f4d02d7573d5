"""Reads and writes the session files of other programs: a module for each file format, one for its messages."""
