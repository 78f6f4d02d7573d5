"""Policies, presets and layouts as data, and the figures that a policy reports."""
