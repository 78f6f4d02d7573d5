"""Who may do what: API keys with their scopes."""
