"""Adds a line of the ledger to a finished summary, below its heading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.choice.brief import brief
from foldline.engine.ledger.choice.render import HEADED_TOKENS
from foldline.engine.ledger.choice.terse import terse
from foldline.engine.ledger.provenance import Provenance, SummaryLine, kind_of
from foldline.engine.ledger.section_lines import LinePlace, places
from foldline.engine.summaries.headings import Section
from foldline.engine.summaries.prompt import TURN_BEGINS

BULLET: Final = "- "
_FENCE: Final = "```"


class Insertion:
    """Adds lines to summaries of at most `max_tokens`, under the headings of this name (`HEADINGS`)."""

    def __init__(self, max_tokens: int, headings: str) -> None:
        self._places: Mapping[Section, LinePlace] = places(headings) if max_tokens >= HEADED_TOKENS else {}

    def written(self, line: LedgerLine) -> str:
        """The line as it stands in a summary, without its bullet."""
        return self._marked(line, line.text)

    def headings(self, line: LedgerLine) -> tuple[str, ...]:
        """The headings above a line."""
        return self._places[line.section].headings if self._places else ()

    def added(self, text: str, lines: Iterable[LedgerLine]) -> str:
        """The text with the lines at the end of their sections, oldest first; it has all lines that it had."""
        rows = text.split("\n")
        # In a block of code, what looks like a heading may be a comment.
        start = max((number for number, row in enumerate(rows, 1) if _FENCE in row), default=0)
        rows, code = rows[start:], rows[:start]
        for line in sorted(lines, key=lambda line: line.order):
            self._add(rows, line)
        return "\n".join((*code, *rows))

    def noted(self, provenance: Provenance, lines: Iterable[LedgerLine], text: str) -> Provenance:
        """The provenance with the lines that were added; `text` has them already."""
        order = {row.removeprefix(BULLET): number for number, row in reversed(list(enumerate(text.split("\n"))))}
        recallable, shown = Counter(provenance.recallable), list(provenance.lines)
        for line in lines:
            recallable[kind_of(line)] -= not self._stands_in_brief(provenance, line)
            shown.append(SummaryLine(self.written(line), kind_of(line), line.place))
        shown.sort(key=lambda each: order.get(each.text, 0))
        # What is not positive is left out.
        return replace(provenance, lines=tuple(shown), recallable=+recallable)

    def _add(self, rows: list[str], line: LedgerLine) -> None:
        written, above = BULLET + self.written(line), self.headings(line)
        if above and above[-1] in rows:
            rows.insert(_end_of_section(rows, rows.index(above[-1])), written)
            return
        position = self._position(rows, line.section) if above else len(rows)
        rows[position:position] = [*(heading for heading in above if heading not in rows), written]

    def _marked(self, line: LedgerLine, said: str) -> str:
        return self._places[line.section].content.written(line.section, said) if self._places else said

    def _stands_in_brief(self, provenance: Provenance, line: LedgerLine) -> bool:
        """Whether the summary had the line already, without what was of little worth in it."""
        shorter = brief(line.text)
        forms = {self._marked(line, said) for said in (line.text, shorter, terse(shorter))}
        return any(each.text in forms and each.place == line.place for each in provenance.lines)

    def _position(self, rows: Sequence[str], section: Section) -> int:
        """Where a section without a heading begins: before the first one that comes later, if that has a heading."""
        end = rows.index(TURN_BEGINS) if TURN_BEGINS in rows else len(rows)
        later = set(self._later(section))
        return next((number for number, row in enumerate(rows[:end]) if row in later), _without_blanks(rows, end))

    def _later(self, section: Section) -> Iterator[str]:
        """The headings of the sections after one, but not those that it shares."""
        order = list(self._places)
        for other in order[order.index(section) + 1 :]:
            yield from (line for line in self._places[other].headings if line not in self._places[section].headings)


def _end_of_section(rows: Sequence[str], heading: int) -> int:
    after = range(heading + 1, len(rows))
    return _without_blanks(rows, next((number for number in after if rows[number].startswith("#")), len(rows)))


def _without_blanks(rows: Sequence[str], end: int) -> int:
    while end and not rows[end - 1].strip():
        end -= 1
    return end
