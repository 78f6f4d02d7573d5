"""Hooks of other packages: finding them, calling them with a time-out, and reporting outcomes to them."""
