"""Routes about who may do what."""
