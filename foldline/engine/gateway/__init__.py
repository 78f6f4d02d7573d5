"""The providers' own APIs: what of a request is a conversation, and by what it is recognised again."""
