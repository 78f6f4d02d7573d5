"""Chooses lines for a budget: the rules first, then what is open, then by worth for each token, nothing said twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from math import log
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from foldline.engine.ledger import weights
from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.items import ASIDE, DOING, LATER, LOOKS, OPEN, Item, ItemKind, Speaker
from foldline.engine.summaries.headings import Section
from foldline.engine.tokens.counter import count_text

_STATES_OF_CLASS: Final = {ItemKind.PLAN: {DOING, OPEN}, ItemKind.REQUEST: {LATER}}
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
    max_tokens: int,
    headings: Mapping[Section, int] = NO_HEADINGS,
    written: Callable[[LedgerLine], str] = attrgetter("text"),
) -> Choice:
    """The best of these lines within `max_tokens`, counted line by line as they are `written`.

    `headings` are the tokens of the headings above each section's lines.
    """
    chooser = _Chooser(lines, max_tokens, headings, {id(line): count_text(f"- {written(line)}\n") for line in lines})
    rules = [line for line in reversed(lines) if _is_rule(line)]
    chooser.take(rules, int(max_tokens * weights.RULES_SHARE))
    chooser.take(
        [line for line in reversed(lines) if line.is_open or line.is_task or _is_open(line.item)],
        int(max_tokens * weights.OPEN_SHARE),
    )
    chooser.fill(line for line in lines if not _is_rule(line))
    chooser.take(rules, max_tokens)
    return chooser.choice


def _is_rule(line: LedgerLine) -> bool:
    return line.item.kind is ItemKind.RULE


def _is_open(item: Item) -> bool:
    return item.state in _STATES_OF_CLASS.get(item.kind, ())


class _Chooser:
    def __init__(
        self, lines: Sequence[LedgerLine], max_tokens: int, headings: Mapping[Section, int], tokens: Mapping[int, int]
    ) -> None:
        self.choice = Choice(sum(map(_is_rule, lines)))
        self._tokens = tokens
        self._max = max_tokens
        self._headings = dict(headings)
        self._said: set[str] = set()
        self._taken: set[int] = set()
        self._counts = Counter(text for line in lines for text in _names(line))
        self._whole = log(len(lines) + 2)
        self._first, self._last = (lines[0].place, lines[-1].place) if lines else (0, 0)

    def take(self, lines: Iterable[LedgerLine], most: int) -> None:
        """Take lines in order within `most` tokens."""
        left = min(most, self._max - self.choice.tokens)
        for line in lines:
            tokens = self._cost(line)
            if tokens <= left and id(line) not in self._taken:
                self._add(line)
                left -= tokens

    def fill(self, lines: Iterable[LedgerLine]) -> None:
        """Take the lines that are worth most for their tokens, as each choice changes what the others add."""
        waiting = [
            (-self._density(line, tokens), number, tokens, line)
            for number, line in enumerate(lines)
            if (tokens := self._tokens[id(line)]) <= self._max
        ]
        heapify(waiting)
        while waiting:
            density, number, tokens, line = waiting[0]
            if self._cost(line) > self._max - self.choice.tokens or id(line) in self._taken:
                heappop(waiting)
                continue
            now = -self._density(line, tokens)
            if now > density:
                heapreplace(waiting, (now, number, tokens, line))
                continue
            heappop(waiting)
            self._add(line)

    def _cost(self, line: LedgerLine) -> int:
        return self._tokens[id(line)] + self._headings.get(line.section, 0)

    def _add(self, line: LedgerLine) -> None:
        self.choice.ranked.append(line)
        self.choice.tokens += self._cost(line)
        self._headings.pop(line.section, None)
        self._taken.add(id(line))
        self._said.update(_names(line))

    def _density(self, line: LedgerLine, tokens: int) -> float:
        news = sorted(
            (1 - log(self._counts[name]) / self._whole for name in _names(line) if name not in self._said), reverse=True
        )
        span = max(1, self._last - self._first)
        worth = worth_of(line.item) + weights.SPECIFIC * sum(news[: weights.MOST_SPECIFICS]) * _trust(line.item)
        worth += weights.FAILING * line.is_failing + weights.NEWNESS * (line.place - self._first) / span
        return worth / (tokens + weights.LINE_TOKENS)


def worth_of(item: Item) -> float:
    """The worth of an item by its kind, its speaker and its state."""
    ways = ((item.kind, speaker, state) for speaker in (item.speaker, None) for state in (item.state, None))
    return next((weights.WORTH[way] for way in ways if way in weights.WORTH), 0.0)


def _trust(item: Item) -> float:
    """How much the names in a line count: in passing and in what was only looked at they are everywhere."""
    if item.state == LOOKS or item.kind is ItemKind.READ:
        return weights.LOOKED_AT
    if item.state == ASIDE and item.speaker is Speaker.ASSISTANT:
        return weights.IN_PASSING
    return 1.0 if item.speaker is Speaker.USER else weights.OTHERS


def _names(line: LedgerLine) -> set[str]:
    return {found.text.casefold() for found in line.found}
