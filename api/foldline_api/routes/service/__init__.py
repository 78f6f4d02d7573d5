"""Routes about the service itself: what models and presets it knows, and how it is."""
