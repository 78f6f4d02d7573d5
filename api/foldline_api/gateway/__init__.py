"""The routes that speak the providers' own APIs."""
