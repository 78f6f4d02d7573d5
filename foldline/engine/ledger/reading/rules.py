"""Whether a sentence of the user is a standing rule: a linear model over words and classes of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Final, NamedTuple

from foldline.engine.ledger.reading import rule_weights
from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.vocabulary import UNKNOWN, tokens

# What a longer sentence says is no rule alone.
LONGEST_RULE_CHARS: Final = 400
# Before a rule there may be a few words, such as "One more thing: ".
LEAD_CHARS: Final = 50
QUESTIONS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")
LONGEST_GRAM: Final = 3
# Pairs of classes farther apart than this say nothing about each other.
FARTHEST: Final = 12
_CLAUSE: Final = re.compile(
    "[,;\N{FULLWIDTH COMMA}\N{FULLWIDTH SEMICOLON}] ?(?:and |but |so |und |aber |et |mais |y |pero )?"
)
_FORBIDS: Final = frozenset({"do_not", "never", "forbidden"})
_REPORTS: Final = frozenset({"says", "source"})
# An expression has no more words than this.
_CLAUSE_TOKENS: Final = 4
_BEGIN, _END = "^", "$"
_LENGTH_STEP: Final = 4
# A character of Chinese says more than a letter, and less than a word.
_WORDS_A_CHARACTER: Final = 0.6
_LONGEST: Final = 6


class Features(NamedTuple):
    """What the model knows about a sentence: sequences of classes, and sequences of the language's words."""

    classes: frozenset[str]
    words: frozenset[str]


def is_rule(sentence: str, language: Language) -> bool:
    """Whether a sentence is rather a rule than not, or has a part that is one."""
    if len(sentence) > LONGEST_RULE_CHARS:
        return False
    return any(margin(features(text, language), language.name) > 0 for text in parts(sentence, language))


def parts(sentence: str, language: Language) -> Iterator[str]:
    """The sentence, and its parts that may be rules by themselves: what follows a colon, and clauses that forbid."""
    yield sentence
    lead, colon, rest = sentence.partition(": ")
    if colon and len(lead) < LEAD_CHARS and _REPORTS.isdisjoint(_classes(tokens(lead), language)):
        yield rest
    _, *clauses = _CLAUSE.split(sentence)
    for clause in clauses:
        if not _FORBIDS.isdisjoint(_classes(tokens(clause)[:_CLAUSE_TOKENS], language)[:1]):
            yield clause


def _classes(words: Sequence[str], language: Language) -> list[str]:
    return [names[0] for names in language.vocabulary.classes(words)]


def margin(found: Features, language: str) -> float:
    """How far a sentence in a language is on the side of rules; below 0 it is none."""
    weights = table()
    return (
        rule_weights.BIAS
        + _weighed(found.classes, weights["classes"])
        + _weighed(found.words, weights.get(language, {}))
    )


def _weighed(found: frozenset[str], weights: Mapping[str, float]) -> float:
    """The weights of a sentence's features, by the root of their number, so that long sentences weigh no more."""
    return sum(weights[name] for name in found if name in weights) / sqrt(len(found))


@cache
def table() -> Mapping[str, Mapping[str, float]]:
    """The weights by kind of feature (`classes`, or a language), then by feature."""
    return {
        kind: {name: hundredths / 100 for hundredths, names in rows.items() for name in names.split("|")}
        for kind, rows in rule_weights.WEIGHTS.items()
    }


def features(sentence: str, language: Language) -> Features:
    """The features of a sentence; all of them are found in one pass over its words."""
    words = tokens(sentence)
    classes = [(_BEGIN,), *language.vocabulary.classes(words), (_END,)]
    main = [names[0] for names in classes]
    found = {name for names in classes for name in names}
    found.update(_grams(main, 2))
    found.update(_pairs([name for name in main[1:] if name != UNKNOWN]))
    length = len(words) * (1 if language.has_words else _WORDS_A_CHARACTER)
    found.add(f"length {min(int(length / _LENGTH_STEP), _LONGEST)}")
    return Features(frozenset(found), frozenset(_grams([_BEGIN, *words, _END], 1)))


def _grams(items: Sequence[str], shortest: int) -> Iterator[str]:
    """The sequences of up to `LONGEST_GRAM` items in a row."""
    for length in range(shortest, LONGEST_GRAM + 1):
        yield from map(" ".join, zip(*(items[start:] for start in range(length)), strict=False))


def _pairs(names: Sequence[str]) -> Iterator[str]:
    """The pairs of classes that have others between them."""
    for place, first in enumerate(names):
        for second in names[place + 2 : place + FARTHEST]:
            yield f"{first}..{second}"
