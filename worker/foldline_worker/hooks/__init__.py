"""Hooks of other packages: who is asked, and calling them within bounds."""
