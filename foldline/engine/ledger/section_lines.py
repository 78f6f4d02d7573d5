"""Places the lines of each section below headings, and finds the section of a line below a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.ledger.reading import cues
from foldline.engine.summaries.headings import HEADINGS, Section

ARROW: Final = " → "
FILE: Final = re.compile(r"^(?P<verb>changed|created|deleted|read|below) (?P<path>\S.*)$")
COMMAND: Final = "$ "
# Only the beginning of a line decides its section.
JUDGED_CHARS: Final = 400


def _is_ending(line: str) -> bool:
    return line.startswith(COMMAND) or ARROW in line or cues.failure_at(line) == 0


def _is_file(line: str) -> bool:
    return FILE.match(line) is not None


# Tests that recognize lines of a section by their wording. Lines of other sections have no such wording.
_LOOKS: Final[Mapping[Section, Callable[[str], bool]]] = MappingProxyType(
    {Section.RULES: cues.RULE, Section.OPEN: cues.OPEN, Section.ENDED: _is_ending, Section.FILES: _is_file}
)
_MARKED: Final = MappingProxyType({section.value: section for section in Section})


class Content(NamedTuple):
    """The sections of the lines below one heading: `usual`, and `others` for lines with their mark or wording."""

    usual: Section
    others: frozenset[Section] = frozenset()

    def read(self, line: str) -> tuple[Section, str]:
        """The section of a line, and its text without the section's mark."""
        mark, _, said = line.partition(": ")
        section = _MARKED.get(mark)
        if self.others and said and section and (section is self.usual or section in self.others):
            return section, said
        return self.looked_at(line), line

    def looked_at(self, line: str) -> Section:
        """The section of a line without a mark, by its wording."""
        start = line[:JUDGED_CHARS]
        shown = (section for section, looks in _LOOKS.items() if section in self.others and looks(start))
        return next(shown, self.usual)

    def written(self, section: Section, said: str) -> str:
        """The line that `read` reads back as this section and text. It has the section's mark only if it needs one."""
        return said if self.read(said) == (section, said) else f"{section.value}: {said}"


class LinePlace(NamedTuple):
    """The place of a section's lines: the headings above them, and the sections that share the place."""

    headings: tuple[str, ...]
    content: Content


def _contents() -> Mapping[str, Content]:
    """The sections below each heading, by its name in lower case, over the headings of all systems."""
    contents: dict[str, Content] = {}
    for heading in (heading for headings in HEADINGS.values() for heading in headings):
        name = heading.name.casefold()
        usual, others = contents.get(name, Content(heading.usual))
        contents[name] = Content(usual, others.union(heading.takes) - {usual})
    return MappingProxyType(contents)


CONTENTS: Final = _contents()


@cache
def places(headings: str) -> Mapping[Section, LinePlace]:
    """The place of each section under the headings of this name (`HEADINGS`), in their order."""
    return MappingProxyType(
        {
            section: LinePlace(heading.lines, CONTENTS[heading.name.casefold()])
            for heading in HEADINGS[headings]
            for section in heading.takes
        }
    )
