"""Foldline and the services it stands on, as processes on this machine, without containers or root.

A tool for development, tests and benchmarks; it is not in the distributed packages.
"""
