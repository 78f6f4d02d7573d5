"""Chooses the lines of a summary for a budget, and writes them under the headings of a policy."""
