"""Conversations that come whole with each request: recognised, appended to, and answered with a view."""
