"""Selects the candidates that fit a budget, cuts them, and writes them under their headings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from foldline.engine.summaries.extractive.activity import ARROW
from foldline.engine.summaries.extractive.items import Item
from foldline.engine.summaries.extractive.lines import clean, cut_joined, cut_to_tokens, flat, key
from foldline.engine.summaries.extractive.section_lines import LinePlace
from foldline.engine.summaries.headings import Section
from foldline.engine.tokens.counter import count_text

# The share of the budget that each section gets first, in this order.
SHARES: Final = {
    Section.RULES: 0.2,
    Section.ASKED: 0.24,
    Section.DECIDED: 0.22,
    Section.OPEN: 0.12,
    Section.ENDED: 0.1,
    Section.FILES: 0.12,
    Section.SAID: 0.0,
}
# The rest of the budget goes to the best candidates of all sections; the worth of each is weighted like this.
WEIGHTS: Final = {
    Section.RULES: 1.0,
    Section.ASKED: 0.95,
    Section.DECIDED: 0.9,
    Section.OPEN: 0.85,
    Section.ENDED: 0.75,
    Section.FILES: 0.7,
    Section.SAID: 0.6,
}
# With fewer tokens there are no headings, as they would leave no room for content.
HEADED_TOKENS: Final = 64
LEAST_LINE_TOKENS: Final = 6
# The wanted number of lines, which decides how long a line may be at first, and the bounds of that length.
LINES_AIMED_AT: Final = 16
LINE_CHARS: Final = (80, 480)
WIDER: Final = 4
# The search for smaller candidates ends after this many in a row did not fit.
MISSES: Final = 24
# The number of candidates that are tried for the last tokens.
TRIED_AT_LAST: Final = 200
LEAST_SHOWN_CHARS: Final = 8
_BULLET_TOKENS: Final = 2


@dataclass(slots=True)
class _ChosenLine:
    item: Item
    shown: str
    tokens: int


class Selection:
    """The lines chosen so far, and the tokens they take with their headings."""

    def __init__(self, max_tokens: int, places: Mapping[Section, LinePlace]) -> None:
        self.max_tokens = max_tokens
        self.has_headings = max_tokens >= HEADED_TOKENS
        self.line_chars = max(LINE_CHARS[0], min(LINE_CHARS[1], max_tokens * 4 // LINES_AIMED_AT))
        self.used_tokens = 0
        self._lines: dict[int, _ChosenLine] = {}
        self._places = places
        self._headings: set[str] = set()

    def take(self, items: Iterable[Item], limit_tokens: int) -> None:
        """Take items in order while those taken here are within `limit_tokens` and all lines within the budget."""
        limit = min(self.max_tokens, self.used_tokens + limit_tokens)
        misses = 0
        for item in items:
            if misses == MISSES or self.used_tokens + LEAST_LINE_TOKENS > limit:
                return
            if id(item) not in self._lines:
                shown = cut_joined(item.text, ARROW, self.line_chars)
                misses = 0 if self._fits(item, shown, limit) else misses + 1

    def top_up(self, items: Iterable[Item]) -> None:
        """Use the rest of the budget for items that were not taken, in order; each is cut to fit."""
        for item in items:
            left = self.max_tokens - self.used_tokens
            if left < LEAST_LINE_TOKENS:
                return
            if id(item) not in self._lines:
                room = left - _BULLET_TOKENS - self._heading_tokens(item.section)
                shown = cut_to_tokens(cut_joined(item.text, ARROW, self.line_chars), room)
                if len(shown) > LEAST_SHOWN_CHARS or shown == item.text:
                    self._fits(item, shown, self.max_tokens)

    def _fits(self, item: Item, shown: str, limit: int) -> bool:
        tokens = count_text(f"- {self._written(item, shown)}\n") + self._heading_tokens(item.section)
        if self.used_tokens + tokens > limit or self._repeats(item, shown):
            return False
        self._headings.update(self._places[item.section].headings)
        self._lines[id(item)] = _ChosenLine(item, shown, tokens)
        self.used_tokens += tokens
        return True

    def _repeats(self, item: Item, shown: str) -> bool:
        return item.section is Section.SAID and any(shown in line.item.text for line in self._lines.values())

    def _written(self, item: Item, shown: str) -> str:
        """The line as it is written below its heading; without headings it has no mark."""
        return self._places[item.section].content.written(item.section, shown) if self.has_headings else shown

    def _heading_tokens(self, section: Section) -> int:
        missing = (line for line in self._places[section].headings if line not in self._headings)
        return sum(count_text(f"{line}\n") for line in missing) if self.has_headings else 0

    def widen(self) -> None:
        """Use the rest of the budget to show more of lines that were cut, best first."""
        self.line_chars *= WIDER
        for line in sorted(self._lines.values(), key=lambda line: -_rank(line.item)):
            left = self.max_tokens - self.used_tokens
            if left < LEAST_LINE_TOKENS:
                return
            if len(line.item.text) > len(line.shown):
                self._widen(line, left)

    def _widen(self, line: _ChosenLine, left: int) -> None:
        before = count_text(self._written(line.item, line.shown))
        shown = cut_to_tokens(cut_joined(line.item.text, ARROW, self.line_chars), before + left)
        more = count_text(self._written(line.item, shown)) - before
        if len(shown) > len(line.shown) and more <= left:
            line.shown = shown
            line.tokens += more
            self.used_tokens += more

    def text(self) -> str:
        """The chosen lines under their headings, oldest first. The lowest ranked lines go if that is too long."""
        kept = sorted(self._lines.values(), key=lambda line: -_rank(line.item))
        text = self._rendered(kept)
        while kept and count_text(text) > self.max_tokens:
            kept.pop()
            text = self._rendered(kept)
        return text

    def _rendered(self, kept: Sequence[_ChosenLine]) -> str:
        rendered: list[str] = []
        for section, place in self._places.items():
            chosen = sorted((line for line in kept if line.item.section is section), key=lambda line: line.item.order)
            if chosen and self.has_headings:
                rendered += [line for line in place.headings if line not in rendered]
            rendered += (f"- {self._written(line.item, line.shown)}" for line in chosen)
        return "\n".join(rendered)


def select(items: list[Item], max_tokens: int, places: Mapping[Section, LinePlace]) -> str:
    """The text of the best items under their headings, within `max_tokens`; empty if not even one line fits."""
    ranked = sorted(_distinct(items), key=lambda item: (-_rank(item), -item.order))
    selection = Selection(max_tokens, places)
    if selection.has_headings:
        for section, share in SHARES.items():
            selection.take((item for item in ranked if item.section is section), int(max_tokens * share))
        selection.take(ranked, max_tokens)
        selection.widen()
        selection.widen()
    selection.top_up(ranked[:TRIED_AT_LAST])
    return selection.text()


def _rank(item: Item) -> float:
    return item.worth * WEIGHTS[item.section]


def _distinct(items: Iterable[Item]) -> list[Item]:
    """One item for each distinct text, with its first section in `SHARES`, its newest place and its highest worth."""
    best: dict[str, Item] = {}
    served = list(SHARES)
    for item in items:
        item.text = flat(clean(item.text))
        name = key(item.text) or item.text
        kept = best.get(name)
        if kept is None:
            best[name] = item
            continue
        section = min(kept.section, item.section, key=served.index)
        best[name] = Item(section, kept.text, max(kept.worth, item.worth), max(kept.order, item.order))
    return list(best.values())
