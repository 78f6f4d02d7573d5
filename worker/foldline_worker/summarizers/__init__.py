"""Summarizers: the interface, the implementations, and the masking of secrets before a call of a model."""
