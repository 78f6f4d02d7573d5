"""Patches a summary by what was said while it was written: facts that were used then, and that it lacks, are added."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.choice.weights import FITTED
from foldline.engine.ledger.choice.worth import names_of, worth_of
from foldline.engine.ledger.items import ItemKind
from foldline.engine.messages import Message, ToolResult
from foldline.engine.summaries.gate.source import FoldedText, folded, texts_of
from foldline.engine.summaries.insertion import BULLET, Insertion
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.tokens.counter import count_text

# The number of lines that were added, in a summary's `details`.
PATCHED_BY_USE: Final = "patched_by_use"
# What is shorter, such as the number 12, is used by chance.
LEAST_CHARS: Final = 3
_COMMON_FORMS: Final = frozenset({"weekday", "acronym"})
# Ranks of lines that add something are smaller.
NOTHING: Final = (0,)
_TOKEN: Final = re.compile(r"\d+|[^\W\d_]+")


def used_texts(messages: Iterable[Message]) -> list[str]:
    """What was said in each of these messages, calls included; what tools answered shows no need of anything."""
    parts = ([part for part in message.parts if not isinstance(part, ToolResult)] for message in messages)
    return ["\n".join(texts_of(each)) for each in parts]


def with_used(
    draft: SummaryDraft, request: SummaryInput, lines: Sequence[LedgerLine], said: Sequence[str]
) -> SummaryDraft:
    """The draft with the lines whose names were used in what was `said`, and that it lacks, within its `max_tokens`.

    The most used come first, and each name is added once. Only `lines` are added, never what was said. `details` say
    how many lines were added. A provider's block and an empty text stay as they are.
    """
    if draft.block or not draft.text.strip() or not said:
        return draft
    uses = _Uses(said)
    wanted = [_Wanted(line, uses.of(line)) for line in lines if line.item.kind is not ItemKind.RULE]
    patch = _Patch(request, [each for each in wanted if each.uses])
    text, added = patch.patched(draft.text)
    if not added:
        return draft
    provenance = draft.provenance and patch.insertion.noted(draft.provenance, added, text)
    count = draft.details.get(PATCHED_BY_USE, 0) + len(added)
    return replace(draft, text=text, provenance=provenance, details={**draft.details, PATCHED_BY_USE: count})


class _Uses:
    """How many texts use a name."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [FoldedText(text) for text in texts]
        self._known: dict[str, int] = {}
        # Looking for each name in each text would take seconds.
        self._having: dict[str, set[int]] = {}
        for number, text in enumerate(self._texts):
            for token in set(_TOKEN.findall(text.text)):
                self._having.setdefault(token, set()).add(number)

    def of(self, line: LedgerLine) -> dict[str, int]:
        """The distinctive names of a line that are used, each with the number of texts."""
        names = [name for name, form in names_of(line).items() if form not in _COMMON_FORMS]
        counts = {name: self._count(name) for name in names if sum(map(str.isalnum, name)) >= LEAST_CHARS}
        return {name: count for name, count in counts.items() if count}

    def _count(self, name: str) -> int:
        known = self._known.get(name)
        if known is None:
            tokens = _TOKEN.findall(folded(name))
            having = set[int]().union(self._having.get(tokens[0], ())) if tokens else set[int]()
            for token in tokens[1:]:
                having &= self._having.get(token, set())
            known = self._known[name] = sum(self._texts[number].has(name) for number in having)
        return known


class _Wanted(NamedTuple):
    """A line, and its names that are used, each with the number of texts."""

    line: LedgerLine
    uses: Mapping[str, int]

    def rank(self, lacked: Collection[str]) -> tuple[int, float, int]:
        """How much the line adds where these names are lacked, then its worth and its age; the smallest is the best."""
        used = sum(count for name, count in self.uses.items() if name in lacked)
        return -used, -worth_of(self.line.item, FITTED), -self.line.order


class _Patch:
    """Chooses the lines to add to a text."""

    def __init__(self, request: SummaryInput, wanted: Sequence[_Wanted]) -> None:
        self.insertion = Insertion(request.max_tokens, request.headings)
        self._max_tokens = request.max_tokens
        self._wanted = wanted

    def patched(self, text: str) -> tuple[str, list[LedgerLine]]:
        """The text with all lines that it lacks and has room for, and these lines."""
        added: list[LedgerLine] = []
        # Estimates leave room, so that there may be more to add until a choice adds nothing.
        while chosen := self._fitting(text, self._chosen(text)):
            text = self.insertion.added(text, chosen)
            added += chosen
        return text, added

    def _chosen(self, text: str) -> list[LedgerLine]:
        """The lines that add most to this text within its room, as each changes what others add."""
        lacked = self._lacked(text)
        room, rows, chosen = self._max_tokens - count_text(text), frozenset(text.split("\n")), list[LedgerLine]()
        waiting = [(each.rank(lacked), each) for each in self._wanted if not lacked.isdisjoint(each.uses)]
        heapify(waiting)
        while waiting and room > 0:
            rank, each = heappop(waiting)
            now = each.rank(lacked)
            if rank < now < NOTHING:
                heappush(waiting, (now, each))
            elif now < NOTHING and (tokens := self._tokens(each.line, rows)) <= room:
                chosen.append(each.line)
                lacked.difference_update(each.uses)
                room -= tokens
        return chosen

    def _lacked(self, text: str) -> set[str]:
        shown = FoldedText(text)
        return {name for name in {name for each in self._wanted for name in each.uses} if not shown.has(name)}

    def _tokens(self, line: LedgerLine, rows: Collection[str]) -> int:
        """About what a line takes, with the heading that it needs; more than there is for one that stands there."""
        written = BULLET + self.insertion.written(line)
        if written in rows:
            return self._max_tokens + 1
        above = (heading for heading in self.insertion.headings(line) if heading not in rows)
        return count_text("\n".join((*above, written, "")))

    def _fitting(self, text: str, chosen: Sequence[LedgerLine]) -> Sequence[LedgerLine]:
        """As many of the lines, the first ones, as do fit."""
        while chosen and count_text(self.insertion.added(text, chosen)) > self._max_tokens:
            chosen = chosen[:-1]
        return chosen
