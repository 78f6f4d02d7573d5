"""A summary made of a story and the ledger: the story's lines and those of the ledger that it does not say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from foldline.engine.ledger.assemble import Assembled, LedgerLine, assembled, specifics_of
from foldline.engine.ledger.choice.render import Written, summary_of_lines
from foldline.engine.ledger.items import STORY, Item, ItemKind, Speaker
from foldline.engine.ledger.reading.specifics import Specific
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.summaries.gate.by_line import read
from foldline.engine.summaries.headings import Section
from foldline.engine.summaries.prompt import SummaryInput

# The share of a summary that a story may take. Where the ledger needs the room, lines of both compete by their worth.
STORY_SHARE: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+")
# Words that say nothing of their own: a story writes "raised the limit" for "I raised the limit".
_FILLING: Final = frozenset({"i", "we", "the", "a", "an", "my", "our", "have", "has"})
_DENYING: Final = frozenset(
    {"not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "t", "fail", "fails", "failed"}
    | {
        "nicht",
        "kein",
        "keine",
        "keinen",
        "nie",
        "ohne",
        "ne",
        "pas",
        "jamais",
        "sans",
        "aucun",
        "nunca",
        "sin",
        "ningún",
    }
)


def story_tokens(piece: SummaryInput) -> int:
    """The most tokens of a story for this piece of a request."""
    return max(SMALLEST_SUMMARY, int(piece.max_tokens * STORY_SHARE))


def composed(piece: SummaryInput, story: str) -> Written:
    """The summary of a piece within its `max_tokens`, under its headings.

    The user's rules stand word for word, so the story's own lines about them are left out.
    """
    ledger = assembled(piece.items)
    said = _Story(story)
    covered = [line for line in ledger.current if line.item.kind is not ItemKind.RULE and said.says(line)]
    gone = {line.order for line in covered}
    missing = [line for line in ledger.current if line.order not in gone]
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
    found = Assembled([*missing, *from_story], ledger.replaced)
    written = summary_of_lines(found, piece.max_tokens, piece.headings)
    # What the story says has no line of its own, so that a recall alone finds where it is from.
    recallable = Counter(written.provenance.recallable) + Counter(line.item.kind for line in covered)
    return written._replace(provenance=replace(written.provenance, recallable=recallable))


def with_earlier_stories(piece: SummaryInput) -> Written:
    """The summary of a piece for which nobody has written a story: those of the summaries that it replaces stay."""
    return composed(piece, "\n".join(piece.stories))


class _Said:
    """A line of a story, with what it says."""

    def __init__(self, text: str, section: Section | None) -> None:
        self.text = text
        self.section = section
        self.words = _words(text)
        self.names = _names(specifics_of(text))


class _Story:
    """The lines of a story, and what they say together."""

    def __init__(self, story: str) -> None:
        found = (line for _, line in read(story) if line is not None and line.section is not Section.RULES)
        self.lines = [_Said(line.text, line.section) for line in found]
        self._words = frozenset(word for line in self.lines for word in line.words)

    def says(self, line: LedgerLine) -> bool:
        """Whether one of its lines has all words and names of a line of the ledger, and denies neither more nor less.

        In doubt it does not: a fact that stands twice is better than one that is lost.
        """
        words, names = _words(line.text), _names(line.found)
        if not words or not words <= self._words:
            return False
        return any(
            words <= said.words and names <= said.names and words & _DENYING == said.words & _DENYING
            for said in self.lines
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _FILLING


def _names(found: Iterable[Specific]) -> frozenset[str]:
    return frozenset(each.text.casefold() for each in found)
