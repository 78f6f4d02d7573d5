"""Where the lines of a section stand in a summary, and of which section a line was that stands under a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.summaries.extractive import cues
from foldline.engine.summaries.extractive.activity import ARROW, BELOW
from foldline.engine.summaries.headings import HEADINGS, Section

FILE: Final = re.compile(rf"^(?P<verb>changed|read|{BELOW}) (?P<path>\S.*)$")
COMMAND: Final = "$ "
# By the beginning of a line it is judged what it is.
JUDGED_CHARS: Final = 400


def _is_ending(line: str) -> bool:
    return line.startswith(COMMAND) or ARROW in line or cues.FAILURE.match(line) is not None


def _is_file(line: str) -> bool:
    return FILE.match(line) is not None


# How lines of these sections show what they are; lines of the others look like any.
_LOOKS: Final[Mapping[Section, Callable[[str], bool]]] = MappingProxyType(
    {Section.RULES: cues.RULE, Section.OPEN: cues.OPEN, Section.ENDED: _is_ending, Section.FILES: _is_file}
)
_MARKED: Final = MappingProxyType({section.value: section for section in Section})


class Content(NamedTuple):
    """What stands in one place: lines of the section `usual`, and of `others` those that show it, by mark or looks."""

    usual: Section
    others: frozenset[Section] = frozenset()

    def read(self, line: str) -> tuple[Section, str]:
        """The section of a line, and what it says, without its mark."""
        mark, _, said = line.partition(": ")
        section = _MARKED.get(mark)
        if self.others and said and section and (section is self.usual or section in self.others):
            return section, said
        return self.looked_at(line), line

    def looked_at(self, line: str) -> Section:
        """The section of a line that has no mark."""
        start = line[:JUDGED_CHARS]
        shown = (section for section, looks in _LOOKS.items() if section in self.others and looks(start))
        return next(shown, self.usual)

    def written(self, section: Section, said: str) -> str:
        """The line that `read` reads back as this: with the section's mark only where it needs one."""
        return said if self.read(said) == (section, said) else f"{section.value}: {said}"


class LinePlace(NamedTuple):
    """Where the lines of a section stand: the headings above them, and what else is there."""

    headings: tuple[str, ...]
    content: Content


def _contents() -> Mapping[str, Content]:
    """What stands under a heading, by its name in lower case, whichever system's summary it is in."""
    contents: dict[str, Content] = {}
    for heading in (heading for headings in HEADINGS.values() for heading in headings):
        name = heading.name.casefold()
        usual, others = contents.get(name, Content(heading.usual))
        contents[name] = Content(usual, others.union(heading.takes) - {usual})
    return MappingProxyType(contents)


CONTENTS: Final = _contents()


@cache
def places(headings: str) -> Mapping[Section, LinePlace]:
    """The place of each section under the headings of this name, in their order."""
    return MappingProxyType(
        {
            section: LinePlace(heading.lines, CONTENTS[heading.name.casefold()])
            for heading in HEADINGS[headings]
            for section in heading.takes
        }
    )
