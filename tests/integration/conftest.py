"""Fixtures of the tests that talk to real services."""

from tests.support.processes.installation import installation, llm

__all__ = ["installation", "llm"]
