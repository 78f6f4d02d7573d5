"""Fixtures of the tests that start the program as a user would."""

from tests.support.processes.installation import installation, llm

__all__ = ["installation", "llm"]
