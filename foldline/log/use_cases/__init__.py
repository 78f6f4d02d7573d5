"""What callers do with a session, one module each."""
