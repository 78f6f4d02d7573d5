"""Chooses lines for a budget: rules, the task and what is open, then by worth for each token; nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from types import MappingProxyType
from typing import Final

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.choice.weights import FITTED, Weights
from foldline.engine.ledger.choice.worth import ANNOUNCING, Worths
from foldline.engine.ledger.items import DOING, LATER, OPEN, STORY, ItemKind
from foldline.engine.summaries.headings import Section

_STATES_OF_CLASS: Final = {ItemKind.PLAN: {DOING, OPEN}, ItemKind.REQUEST: {LATER}}
# A shorter remark that names nothing, such as "Yes.", says nothing without what stood before it.
LEAST_WIDTH: Final = 12
# From here on, a character says about as much as three letters.
_WIDE: Final = "\u2e80"
NO_HEADINGS: Final[Mapping[Section, int]] = MappingProxyType({})


@dataclass(slots=True)
class Choice:
    """The lines chosen for a budget, with the tokens they take, of lines with so many `rules`.

    `ranked` are the lines as they were chosen, the best first.
    """

    rules: int
    ranked: list[LedgerLine] = field(default_factory=list)
    tokens: int = 0

    @property
    def dropped_rules(self) -> int:
        """The number of rules that gave way."""
        return self.rules - sum(map(_is_rule, self.ranked))

    @property
    def lines(self) -> list[LedgerLine]:
        """The lines, oldest first."""
        return sorted(self.ranked, key=lambda line: line.order)

    def drop_last(self) -> None:
        """Leave the line out that was chosen last."""
        self.ranked.pop()


def choose(
    lines: Sequence[LedgerLine],
    tokens: Mapping[int, int],
    max_tokens: int,
    headings: Mapping[Section, int] = NO_HEADINGS,
    weights: Weights = FITTED,
) -> Choice:
    """All of these lines if they fit into `max_tokens`, or else the best; `tokens` has those of each by its `order`.

    `headings` are the tokens of the headings above each section's lines.
    """
    whole = sum(tokens[line.order] for line in lines) + sum(headings.values())
    if whole <= max_tokens:
        best_first = sorted(lines, key=lambda line: (_is_rule(line), line.order), reverse=True)
        return Choice(sum(map(_is_rule, lines)), best_first, whole)
    chooser = _Chooser(lines, tokens, max_tokens, headings, weights)
    rules = [line for line in reversed(lines) if _is_rule(line)]
    chooser.take(rules, int(max_tokens * weights.rules_share))
    tasks = [line for line in lines if line.is_task]
    is_open = [line for line in reversed(lines) if _is_open(line)]
    chooser.take([*tasks, *is_open], int(max_tokens * weights.open_share))
    chooser.take(rules, max_tokens)
    remarks = chooser.fill(line for line in lines if not _is_rule(line))
    chooser.take(remarks, max_tokens)
    return chooser.choice


def _width(text: str) -> int:
    return sum(3 if character >= _WIDE else 1 for character in text)


def _is_rule(line: LedgerLine) -> bool:
    return line.item.kind is ItemKind.RULE


def _is_open(line: LedgerLine) -> bool:
    """Whether a line says what is open, and does not only announce it."""
    is_waiting = line.is_open or line.item.state in _STATES_OF_CLASS.get(line.item.kind, ())
    return is_waiting and not line.text.endswith(ANNOUNCING)


class _Chooser:
    def __init__(
        self,
        lines: Sequence[LedgerLine],
        tokens: Mapping[int, int],
        max_tokens: int,
        headings: Mapping[Section, int],
        weights: Weights,
    ) -> None:
        self.choice = Choice(sum(map(_is_rule, lines)))
        self._tokens = tokens
        self._max = max_tokens
        self._headings = dict(headings)
        self._worths = Worths(lines, weights)
        self._line_tokens = weights.line_tokens
        self._taken: set[int] = set()

    def take(self, lines: Iterable[LedgerLine], most: int) -> None:
        """Take lines in order within `most` tokens."""
        left = min(most, self._max - self.choice.tokens)
        for line in lines:
            tokens = self._cost(line)
            if tokens <= left and line.order not in self._taken:
                self._add(line)
                left -= tokens

    def fill(self, lines: Iterable[LedgerLine]) -> list[LedgerLine]:
        """Take the lines that are worth most for their tokens, as each choice changes what others add.

        Returns those that are worth 0, the newest first, if all others were taken.
        """
        remarks: list[LedgerLine] = []
        is_short = False
        waiting = [(-self._density(line), line.order, line) for line in lines if self._tokens[line.order] <= self._max]
        heapify(waiting)
        while waiting:
            density, order, line = waiting[0]
            now = -self._density(line)
            if order in self._taken or (now < 0 and self._cost(line) > self._max - self.choice.tokens):
                is_short |= order not in self._taken and line.item.state != STORY
                heappop(waiting)
                continue
            if density < now < 0:
                heapreplace(waiting, (now, order, line))
                continue
            heappop(waiting)
            if now < 0:
                self._add(line)
            elif line.found or _width(line.text) >= LEAST_WIDTH:
                remarks.append(line)
        return [] if is_short else sorted(remarks, key=lambda line: -line.order)

    def _cost(self, line: LedgerLine) -> int:
        return self._tokens[line.order] + self._headings.get(line.section, 0)

    def _density(self, line: LedgerLine) -> float:
        return self._worths.of(line) / (self._tokens[line.order] + self._line_tokens)

    def _add(self, line: LedgerLine) -> None:
        self.choice.ranked.append(line)
        self.choice.tokens += self._cost(line)
        self._headings.pop(line.section, None)
        self._taken.add(line.order)
        self._worths.say(line)
