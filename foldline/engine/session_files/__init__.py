"""The session files of other programs, read and written: one module for a file, one for its messages."""
