"""Imports sessions from the session files of other programs, and exports them."""
