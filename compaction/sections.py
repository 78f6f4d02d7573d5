"""The sections every summary has, whoever writes it, so that the next summary can take them over."""

from __future__ import annotations

from enum import Enum


class Section(Enum):
    """A section; its value is the heading. Definition order is the order in a summary."""

    RULES = "Rules and limits"
    ASKED = "Asked"
    DECIDED = "Decided and done"
    OPEN = "Open"
    ENDED = "Commands and errors"
    FILES = "Files"
    SAID = "Also said"

    @property
    def heading(self) -> str:
        """The section's line in a summary."""
        return f"## {self.value}"
