"""Calls of a provider over HTTP: bounded in time and number, repeated, and with errors that are safe to log."""
