"""Whether a sentence of the user is a standing rule: a linear model over words and classes of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import combinations
from math import sqrt
from typing import Final, TypeAlias

from foldline.engine.ledger.reading import rule_weights
from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.vocabulary import UNKNOWN, names, tokens

# What a longer sentence says is no rule alone.
LONGEST_RULE_CHARS: Final = 400
# Before a rule there may be a few words, such as "One more thing: ".
LEAD_CHARS: Final = 50
# A few words that announce something are no rule, nor is a text of fewer than two words.
_HEADING: Final = re.compile("\\A(?:\\S{1,40}\\s+){0,3}\\S{1,40}[:\N{FULLWIDTH COLON}]\\Z")
_WORDS: Final = re.compile(r"[^\W\d_]{2}.*?(?:\W|\d)[^\W\d_]|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
QUESTIONS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")
_CLAUSE: Final = re.compile(
    "[,;\N{FULLWIDTH COMMA}\N{FULLWIDTH SEMICOLON}] ?(?:and |but |so |und |aber |et |mais |y |pero )?"
)
_FORBIDS: Final = frozenset({"do_not", "never", "forbidden"})
_REPORTS: Final = frozenset({"says", "source"})
# An expression has no more words than this.
_CLAUSE_TOKENS: Final = 4
_BEGIN, _END = "^", "$"
# Classes of words that also have other meanings, and after what they are verbs.
_VERBS: Final = frozenset({"keep", "do", "write"})
_BEFORE_VERBS: Final = frozenset({_BEGIN, "please", "hello", "from_now", "and", "always", "never", ",", ":"})
_GREETING: Final = "hello"
_BEFORE_GREETINGS: Final = frozenset({_BEGIN, _GREETING, ",", "!", "not", "more"})
_LENGTH_STEP: Final = 4
# A character of Chinese says more than a letter, and less than a word.
_WORDS_A_CHARACTER: Final = 0.6
_LONGEST: Final = 6
# The share of expressions in no class, in steps.
_SHARES: Final = 8


# One word or class, or several in a row.
Feature: TypeAlias = tuple[str, ...]
# The features of a sentence by kind: `classes`, `pairs`, or the language for its words.
Features: TypeAlias = Mapping[str, AbstractSet[Feature]]


def is_rule(sentence: str, language: Language) -> bool:
    """Whether a sentence is rather a rule than not, or has a part that is one."""
    is_short = len(sentence) <= LONGEST_RULE_CHARS
    if not is_short or _WORDS.search(sentence) is None or _HEADING.match(sentence):
        return False
    return any(margin(features(text, language)) > 0 for text in parts(sentence, language))


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
    return [several[0] for several in language.vocabulary.classes(words)]


def margin(found: Features) -> float:
    """How far a sentence with these features is on the side of rules; below 0 it is none."""
    weights = table()
    return rule_weights.BIAS + sum(_weighed(names, weights.get(kind, {})) for kind, names in found.items())


def _weighed(found: AbstractSet[Feature], weights: Mapping[Feature, float]) -> float:
    """The weights of a sentence's features, by the root of their number, so that long sentences weigh no more."""
    return sum(map(weights.__getitem__, weights.keys() & found)) / sqrt(len(found) or 1)


@cache
def table() -> Mapping[str, Mapping[Feature, float]]:
    """The weights by kind of feature, then by feature."""
    return {
        kind: {
            tuple(name.split(" ")): hundredths / 100
            for hundredths, joined in rows.items()
            for name in joined.split("|")
        }
        for kind, rows in rule_weights.WEIGHTS.items()
    }


def features(sentence: str, language: Language) -> Features:
    """The features of a sentence; all of them are found in one pass over its words."""
    words = tokens(sentence)
    classes = list(_in_place(language.vocabulary.classes(words, names(sentence))))
    main = [_BEGIN, *_main_classes(classes), _END]
    length = len(words) * (1 if language.has_words else _WORDS_A_CHARACTER)
    return {
        "classes": {
            *_in_a_row(main),
            *((name,) for several in classes for name in several),
            ("length", str(min(int(length / _LENGTH_STEP), _LONGEST))),
            ("unknown", str(_SHARES * main.count(UNKNOWN) // len(main))),
        },
        "pairs": set(combinations([name for name in main[1:] if name != UNKNOWN], 2)),
        language.name: _in_a_row([_BEGIN, *words, _END]),
    }


def _in_place(classes: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The classes without those of greetings and praise, such as "good", where these cannot stand."""
    before: tuple[str, ...] = (_BEGIN,)
    for several in classes:
        if _GREETING in several and _BEFORE_GREETINGS.isdisjoint(before):
            before = tuple(name for name in several if name != _GREETING) or (UNKNOWN,)
        else:
            before = several
        yield before


def _main_classes(classes: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """One class of each expression: a verb's where a sentence or clause begins, and else another's if there is one."""
    before = _BEGIN
    for several in classes:
        is_verb_likely = before in _BEFORE_VERBS
        before = next((name for name in several if (name in _VERBS) == is_verb_likely), several[0])
        yield before


def _in_a_row(items: Sequence[str]) -> set[Feature]:
    """The items, and the sequences of two and of three in a row."""
    second, third = items[1:], items[2:]
    return {*zip(items), *zip(items, second, strict=False), *zip(items, second, third, strict=False)}
