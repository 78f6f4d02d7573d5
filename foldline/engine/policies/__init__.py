"""Policies and presets as data, and the figures a policy reports."""
