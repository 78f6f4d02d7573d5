"""Which passages answer a question best: first by the terms that an index found, then by their texts."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, NamedTuple

from foldline.engine.recall.terms import ordered_terms, terms_of

# Of a long question its beginning counts, and no more terms than this.
QUESTION_CHARS: Final = 4_000
MOST_TERMS: Final = 24
# What a term adds that only the entry before or after has: a call names the file, its result what is in it.
NEIGHBOUR_SHARE: Final = 0.2
# What the best line of a text adds to what the text has in all, and a name or two words that it has just as asked.
LINE_SHARE: Final = 0.6
EXACT_SHARE: Final = 0.5
_LINE: Final = re.compile(r"[^\n]{1,400}")
# Names with marks inside, such as paths, versions and numbers of tickets.
_NAME: Final = re.compile(r"\w[\w./:@#-]{0,200}\w")
_PLAIN: Final = re.compile(r"\w+")


class PassageAt(NamedTuple):
    """A passage by the seq of its entry and its number within that."""

    seq: int
    number: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question as terms, in its order, and what says more together: names with marks, and pairs of words."""

    terms: tuple[str, ...]
    together: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weighted:
    """A question with the weight of each of its terms: the rarer a term is, the more it says."""

    question: Question
    weights: Mapping[str, float]

    def of(self, terms: Iterable[str]) -> float:
        """The weight of these terms together."""
        return sum(self.weights.get(term, 0.0) for term in terms)


class Focus(NamedTuple):
    """How well a text answers, and where its best line is."""

    score: float
    start: int
    stop: int


def question_of(text: str) -> Question:
    """The question that a text asks; it has no terms if there is nothing to search for."""
    text = text[:QUESTION_CHARS]
    names = (match[0] for match in _NAME.finditer(text) if not _PLAIN.fullmatch(match[0]))
    pairs = (f"{one} {other}" for one, other in pairwise(_PLAIN.findall(text)) if terms_of(one) and terms_of(other))
    together = dict.fromkeys(map(str.casefold, (*names, *islice(pairs, MOST_TERMS))))
    return Question(tuple(ordered_terms(text)[:MOST_TERMS]), tuple(together))


def weighted(question: Question, counts: Mapping[str, int], entries: int) -> Weighted:
    """The question with its weights, by the number of passages that have each term in a path of so many entries."""
    total = max([entries, *counts.values(), 1])
    return Weighted(question, {term: math.log(1 + total / max(1, count)) for term, count in counts.items()})


def focus(asked: Weighted, text: str, nearby: Collection[str] = ()) -> Focus:
    """How well a text answers the question, with terms `nearby` that the entries beside it have."""
    terms = terms_of(text) & asked.weights.keys()
    lines = [(asked.of(terms_of(match[0])), -match.start(), match) for match in _LINE.finditer(text)]
    line, _, at = max(lines, default=(0.0, 0, None))
    flat = " ".join(text.casefold().split())
    exact = sum(asked.of(terms_of(name)) for name in asked.question.together if name in flat)
    beside = NEIGHBOUR_SHARE * asked.of(set(nearby) - terms)
    score = asked.of(terms) + LINE_SHARE * line + EXACT_SHARE * exact + beside
    return Focus(score, at.start() if at else 0, at.end() if at else len(text))
