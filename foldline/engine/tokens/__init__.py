"""Counting and estimating the tokens of text, and cutting text to a size."""
