"""The container image: how it is built and tried, and the Compose file of a whole deployment."""
