"""The rows of the gateway: against a bare streaming proxy in front of the same provider, and against itself."""
