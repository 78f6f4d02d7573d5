"""Rows against other systems that do the same work, each installed in a folder of its own and run as a process."""
