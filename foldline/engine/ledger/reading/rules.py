"""Whether a sentence of the user is a standing rule: a linear model over the forms of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from math import exp

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.rule_weights import BIAS, WEIGHTS

# What a longer sentence says is no rule alone.
LONGEST_RULE_CHARS = 400
# Before a rule there may be a few words, such as "One more thing: ".
LEAD_CHARS = 50
QUESTIONS = ("?", "\N{FULLWIDTH QUESTION MARK}")
_CLAUSE = re.compile("[,;\N{FULLWIDTH COMMA}\N{FULLWIDTH SEMICOLON}] ?(?:and |but |so |und |aber |et |mais |y |pero )?")
_SHORT, _LONG = 14, 140


def rule_score(sentence: str, language: Language) -> float:
    """How likely a sentence is a rule: from 0 to 1."""
    if len(sentence) > LONGEST_RULE_CHARS:
        return 0.0
    return max(_score(text, language) for text in (sentence, *_parts(sentence, language)))


def _parts(sentence: str, language: Language) -> Iterator[str]:
    """The parts of a sentence that may be rules by themselves: what follows a colon, and clauses that forbid."""
    lead, colon, rest = sentence.partition(": ")
    if colon and len(lead) < LEAD_CHARS and not language.marks("reports", lead.lower()):
        yield rest
    _, *clauses = _CLAUSE.split(sentence)
    for clause in clauses:
        if language.marks("prohibits_first", clause.lower()):
            yield clause


def _score(sentence: str, language: Language) -> float:
    total = BIAS + sum(WEIGHTS.get(feature, 0.0) for feature in features(sentence, language))
    return 1 / (1 + exp(-total))


def features(sentence: str, language: Language) -> Iterator[str]:
    """The features of a sentence: those of its language, its form, and pairs of these."""
    text = sentence.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = language.lead.sub("", text, count=1)
    found = language.found(text)
    if text.rstrip().endswith(QUESTIONS):
        found.append("question")
    length = len(text) * (1 if language.has_words else 3)
    if length < _SHORT:
        found.append("short")
    elif length > _LONG:
        found.append("long")
    yield from found
    for pair in combinations(sorted(found), 2):
        yield "&".join(pair)
