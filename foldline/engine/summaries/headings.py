"""The sections of a summary, and the headings under which each system writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final


class Section(Enum):
    """A section of a summary. Its value marks lines that look like another section's: `rule: stay below 40 lines`."""

    RULES = "rule"
    ASKED = "asked"
    DECIDED = "decided"
    OPEN = "open"
    ENDED = "ended"
    FILES = "file"
    SAID = "said"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a summary. `guide` explains to a model which lines belong below it.

    A line below it is of the section `usual`, unless its mark or wording shows another. The extractive summarizer puts
    the lines of the sections `takes` below it, in this order. `within` is the name of its parent heading.
    """

    name: str
    guide: str
    usual: Section
    takes: tuple[Section, ...] = ()
    within: str | None = None

    @property
    def line(self) -> str:
        """The heading as it stands in a summary."""
        return f"### {self.name}" if self.within else f"## {self.name}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The heading with its parent heading above it, if it has one."""
        return (f"## {self.within}", self.line) if self.within else (self.line,)


_RULES: Final = "what the user demanded, forbade or limited, word for word; they stay in force"
_ASKED: Final = "the requests, oldest first, and the purpose behind them"
_OPEN: Final = "what is being worked on at the end, what was promised, what waits for an answer, the next step"
_ENDED: Final = "commands and failures that matter, each with how it ended last"
_FILES: Final = "paths that were read or changed, and for a changed one what changed"
_SAID: Final = "other names, numbers and answers somebody may come back to"

_FOLDLINE: Final = (
    Heading("Rules", _RULES, Section.RULES, (Section.RULES,)),
    Heading("Asked", _ASKED, Section.ASKED, (Section.ASKED,)),
    Heading(
        "Decided",
        "choices with their reasons, work that is finished, facts found out on the way",
        Section.DECIDED,
        (Section.DECIDED,),
    ),
    Heading("Open", _OPEN, Section.OPEN, (Section.OPEN,)),
    Heading("Commands", _ENDED, Section.ENDED, (Section.ENDED,)),
    Heading("Files", _FILES, Section.FILES, (Section.FILES,)),
    Heading("Said", _SAID, Section.SAID, (Section.SAID,)),
)

_NEUROLINK: Final = (
    Heading(
        "Primary Request and Intent",
        f"{_ASKED}; also {_RULES}, and each begins with `{Section.RULES.value}: `",
        Section.ASKED,
        (Section.RULES, Section.ASKED),
    ),
    Heading(
        "Key Technical Concepts",
        f"technologies and terms that the work rests on, and {_SAID}",
        Section.SAID,
        (Section.SAID,),
    ),
    Heading("Files and Code Sections", f"{_FILES}; code only where it is needed", Section.FILES, (Section.FILES,)),
    Heading("Problem Solving", _ENDED, Section.ENDED, (Section.ENDED,)),
    Heading("Pending Tasks", "what was asked for or promised and is not finished", Section.OPEN, (Section.OPEN,)),
    Heading(
        "Task Evolution",
        "how the task went on: choices with their reasons, changes of mind, what is finished, facts found out",
        Section.DECIDED,
        (Section.DECIDED,),
    ),
    Heading("Current Work", "what was being done at the very end", Section.OPEN),
    Heading("Next Step", "what comes first now, or which answer is waited for", Section.OPEN),
    Heading("Required Files", "paths that have to be read again to go on", Section.FILES),
)

_AGENT_CODE: Final = (
    Heading("Goal", _ASKED, Section.ASKED, (Section.ASKED,)),
    Heading("Constraints", _RULES, Section.RULES, (Section.RULES,)),
    Heading(
        "Progress",
        f"work that is finished and facts found out on the way; {_ENDED}",
        Section.DECIDED,
        (Section.ENDED, Section.SAID),
    ),
    Heading("Decisions", "choices with their reasons", Section.DECIDED, (Section.DECIDED,)),
    Heading("Next steps", _OPEN, Section.OPEN, (Section.OPEN,)),
    Heading("Files", _FILES, Section.FILES, (Section.FILES,)),
)

_PI: Final = (
    Heading("Goal", _ASKED, Section.ASKED, (Section.ASKED,)),
    Heading("Constraints & Preferences", f"{_RULES}; and what the user prefers", Section.RULES, (Section.RULES,)),
    Heading("Progress", "how far the work is, in three parts", Section.DECIDED),
    Heading("Done", "work that is finished, with its result", Section.DECIDED, (Section.DECIDED,), within="Progress"),
    Heading("In Progress", "what is being worked on at the end", Section.OPEN, (Section.OPEN,), within="Progress"),
    Heading("Blocked", "what cannot go on, and what it waits for", Section.OPEN, within="Progress"),
    Heading("Key Decisions", "choices with their reasons", Section.DECIDED),
    Heading("Next Steps", "what is to be done, in the order in which to do it", Section.OPEN),
    Heading(
        "Critical Context",
        f"facts without which the work cannot go on: {_ENDED}; {_FILES}; {_SAID}",
        Section.DECIDED,
        (Section.ENDED, Section.FILES, Section.SAID),
    ),
)

# pi's headings for the beginning of a turn whose rest stays in view.
_TURN: Final = (
    Heading(
        "Original Request",
        f"what the user asked for in this turn, and the purpose behind it; also {_RULES}, and each begins with "
        f"`{Section.RULES.value}: `",
        Section.ASKED,
        (Section.RULES, Section.ASKED),
    ),
    Heading(
        "Early Progress",
        f"work that was done up to here, choices with their reasons, facts found out; {_ENDED}",
        Section.DECIDED,
        (Section.DECIDED, Section.ENDED),
    ),
    Heading(
        "Context for Suffix",
        f"what the rest of the turn cannot be understood without: what was under way where this part ends; {_FILES}; "
        f"{_SAID}",
        Section.DECIDED,
        (Section.OPEN, Section.FILES, Section.SAID),
    ),
)
TURN: Final = "turn"

# The names are those of the systems, the guides are ours. Each section has one place under the headings of each system,
# so that no line is lost. A name that two systems share means the same in both, so that Foldline can read any summary.
HEADINGS: Final[Mapping[str, tuple[Heading, ...]]] = MappingProxyType(
    {
        "foldline": _FOLDLINE,
        "neurolink": _NEUROLINK,
        "agent-code": _AGENT_CODE,
        # The documentation of codebuddy names no headings.
        "codebuddy": _FOLDLINE,
        "pi": _PI,
        TURN: _TURN,
    }
)
