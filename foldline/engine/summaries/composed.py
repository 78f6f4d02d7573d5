"""A summary made of a story and the ledger: the story's lines and those of the ledger that it does not say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from foldline.engine.ledger.assemble import Assembled, LedgerLine, assembled, specifics_of
from foldline.engine.ledger.choice.render import Written, summary_of_lines
from foldline.engine.ledger.items import STORY, Item, ItemKind, Speaker
from foldline.engine.ledger.reading.specifics import Specific
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.summaries.gate.by_line import read
from foldline.engine.summaries.gate.source import folded, words_of
from foldline.engine.summaries.headings import Section
from foldline.engine.summaries.prompt import SummaryInput

# The share of a summary that a story may take. Where the ledger needs the room, lines of both compete by their worth.
STORY_SHARE: Final = 0.5
# A line of the ledger is said by a story that has all its names and numbers, and so much of its words in one line.
SAID_SHARE: Final = 0.75


def story_tokens(piece: SummaryInput) -> int:
    """The most tokens of a story for this piece of a request."""
    return max(SMALLEST_SUMMARY, int(piece.max_tokens * STORY_SHARE))


def composed(piece: SummaryInput, story: str) -> Written:
    """The summary of a piece within its `max_tokens`, under its headings.

    The user's rules stand word for word, so the story's own lines about them are left out.
    """
    ledger = assembled(piece.items)
    said = _Story(story)
    missing = [line for line in ledger.current if line.item.kind is ItemKind.RULE or not said.says(line)]
    place = ledger.current[-1].place if ledger.current else 0
    from_story = [
        LedgerLine(
            Item(ItemKind.SAID, line.text, Speaker.SUMMARY, state=STORY),
            place,
            line.text,
            found=specifics_of(line.text),
            under=line.section,
            order=order - len(said.lines),
        )
        for order, line in enumerate(said.lines)
    ]
    return summary_of_lines(Assembled([*missing, *from_story], ledger.replaced), piece.max_tokens, piece.headings)


def with_earlier_stories(piece: SummaryInput) -> Written:
    """The summary of a piece for which nobody has written a story: those of the summaries that it replaces stay."""
    return composed(piece, "\n".join(piece.stories))


class _Said:
    """A line of a story, with what it says."""

    def __init__(self, text: str, section: Section | None) -> None:
        self.text = text
        self.section = section
        self.folded = folded(text)
        self.words = words_of(self.folded)
        self.names = _names(specifics_of(text))


class _Story:
    """The lines of a story, and what they say together."""

    def __init__(self, story: str) -> None:
        found = (line for _, line in read(story) if line is not None and line.section is not Section.RULES)
        self.lines = [_Said(line.text, line.section) for line in found]
        self._folded = "\n".join(line.folded for line in self.lines)
        self._names = frozenset(name for line in self.lines for name in line.names)

    def says(self, line: LedgerLine) -> bool:
        """Whether it says what a line of the ledger says."""
        text, names = folded(line.text), _names(line.found)
        if text in self._folded:
            return True
        if not names or not names <= self._names:
            return False
        words = words_of(text)
        return any(names <= said.names and len(words & said.words) >= SAID_SHARE * len(words) for said in self.lines)


def _names(found: Iterable[Specific]) -> frozenset[str]:
    return frozenset(each.text.casefold() for each in found)
