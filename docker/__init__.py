"""Builds and checks the container image; the Compose file of a deployment is here too."""
