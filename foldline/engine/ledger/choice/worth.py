"""What lines are worth beside each other: by kind, by specifics that are new, by how common their words are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import log
from typing import Final

from foldline.engine.ledger.assemble import LedgerLine, specifics_of
from foldline.engine.ledger.choice.weights import FORMS, Weights
from foldline.engine.ledger.items import ASIDE, FIELDS, LOOKS, SPOKEN, STORY, Item, ItemKind, Speaker
from foldline.engine.ledger.replaced import MOST_READ, signs

# Shorter words are mostly those that every sentence has. In Chinese and Japanese, pairs of characters serve as words.
_WORD: Final = re.compile(r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff]{4,30}|[\u3040-\u30ff\u4e00-\u9fff]{2}")
# A sentence of fewer words says little without the one before it.
LEAST_WORDS: Final = 3
# What a line announces that ends like this stands in other lines.
ANNOUNCING: Final = (":", "\N{FULLWIDTH COLON}")
# What a sentence keeps of the worth of its kind, however common its words are.
LEAST_SHARE: Final = 0.05
# What the user asked for in so many of the newest messages is what the work is about.
LATELY: Final = 3
# A value with its label alone belongs to something that another line names.
_LABELLED: Final = re.compile(r"\A\W{0,4}[\w ]{1,30}:\W{0,4}\S{1,40}(?: \S{1,12}){0,2}\Z")
_GROUPS: Final = {form: group for group, forms in FORMS.items() for form in forms}


class Worths:
    """The worth of each of these lines, by its `order`; a specific that was said before is worth nothing."""

    def __init__(self, lines: Sequence[LedgerLine], weights: Weights) -> None:
        self._weights = weights
        self._of_form = {form: getattr(weights, group) for form, group in _GROUPS.items()}
        self._first = lines[0].place if lines else 0
        self._span = max(1, lines[-1].place - self._first) if lines else 1
        self._said: set[str] = set()
        spoken = {line.place for line in lines if line.item.speaker is Speaker.USER and line.item.kind in SPOKEN}
        self._lately = frozenset(sorted(spoken)[-LATELY:])
        names = {line.order: names_of(line) for line in lines}
        words = {line.order: _words(line.text) for line in lines}
        # A story repeats what lines say, and makes no word or name in them commoner.
        counted = [line.order for line in lines if line.item.state != STORY]
        self._common_names = _commonnesses((names[order] for order in counted), len(counted))
        self._common_words = _commonnesses((words[order] for order in counted), len(counted))
        self._own = {line.order: self._own_worth(line, words[line.order]) for line in lines}
        self._adds = {line.order: self._additions(line, names[line.order]) for line in lines}

    def of(self, line: LedgerLine) -> float:
        """The worth of a line beside all that was said; 0 for a remark that brings nothing new."""
        said, left, worth = self._said, self._weights.most_specifics, self._own[line.order]
        for addition, name in self._adds[line.order]:
            if name not in said:
                worth += addition
                left -= 1
                if not left:
                    break
        return worth if worth >= self._weights.least_remark or not _is_remark(line) else 0.0

    def say(self, line: LedgerLine) -> None:
        """Count the specifics of a line as said."""
        self._said.update(name for _, name in self._adds[line.order])

    def _own_worth(self, line: LedgerLine, words: Collection[str]) -> float:
        weights, worth = self._weights, worth_of(line.item, self._weights)
        if line.item.kind in SPOKEN:
            says = 0.0 if line.text.endswith(ANNOUNCING) else 1 - weights.common * self._commonness(words)
            worth = worth * max(LEAST_SHARE, says) + weights.settling * any(signs(line.text))
        if line.item.kind is ItemKind.REQUEST and line.item.speaker is Speaker.USER and line.place in self._lately:
            worth += weights.lately
        return worth + weights.failing * line.is_failing + weights.newness * (line.place - self._first) / self._span

    def _commonness(self, words: Collection[str]) -> float:
        """How common the words of a sentence are, from 0 to 1. A word that it lacks is as common as can be."""
        lacking = max(0, LEAST_WORDS - len(words))
        known = self._common_words
        return (sum(known.get(word, 0.0) for word in words) + lacking) / (len(words) + lacking)

    def _additions(self, line: LedgerLine, names: dict[str, str]) -> list[tuple[float, str]]:
        """What each specific of a line adds, the best first."""
        trust = self._trust(line)
        return sorted(
            (
                (trust * self._of_form.get(form, 0.0) * (1 - self._common_names.get(name, 0.0)), name)
                for name, form in names.items()
            ),
            reverse=True,
        )

    def _trust(self, line: LedgerLine) -> float:
        """How much the names in a line count: in passing and in what was only looked at they are everywhere."""
        item = line.item
        if item.state == LOOKS or item.kind is ItemKind.READ:
            is_record = any(part.state == FIELDS for _, part in line.items)
            return self._weights.records if is_record else self._weights.looked_at
        if item.speaker is Speaker.ASSISTANT and (item.state == ASIDE or _LABELLED.match(line.text)):
            return self._weights.in_passing
        return 1.0 if item.speaker is Speaker.USER else self._weights.others


def worth_of(item: Item, weights: Weights) -> float:
    """The worth of an item by its kind, its speaker and its state."""
    ways = ((item.kind, speaker, state) for speaker in (item.speaker, None) for state in (item.state, None))
    return next((weights.kinds[way] for way in ways if way in weights.kinds), 0.0)


def _is_remark(line: LedgerLine) -> bool:
    """Whether a line was said in passing, or only announces what others say."""
    return line.item.kind is ItemKind.SAID and (line.item.state == ASIDE or line.text.endswith(ANNOUNCING))


def _commonnesses(said: Iterable[Iterable[str]], lines: int) -> dict[str, float]:
    """How common each name or word is: 0 if it is in one line, 1 if it is in all of so many."""
    whole = log(lines + 2)
    return {name: log(number) / whole for name, number in Counter(chain.from_iterable(said)).items()}


def names_of(line: LedgerLine) -> dict[str, str]:
    """The specifics of a line, each with its form."""
    return {found.text.casefold(): found.form for found in line.found}


@lru_cache(maxsize=MOST_READ)
def _words(text: str) -> frozenset[str]:
    """The words of a text that are no specifics."""
    start, words = 0, set[str]()
    for found in specifics_of(text):
        words.update(_WORD.findall(text[start : found.start]))
        start = found.start + len(found.text)
    words.update(_WORD.findall(text[start:]))
    return frozenset(words)
