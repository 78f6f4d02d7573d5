"""Leaves out remarks at the edges of a sentence that name and limit nothing, where a summary has little room."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.languages import language_of
from foldline.engine.ledger.reading.specifics import specifics
from foldline.engine.ledger.reading.vocabulary import QUOTE, tokens
from foldline.engine.ledger.replaced import MOST_READ

# What stands for a remark.
GONE: Final = "\N{HORIZONTAL ELLIPSIS}"
_EDGE: Final = re.compile(
    "(?<=[,;.!?:]) (?=\\S)| (?=[-\N{EN DASH}\N{EM DASH}] )"
    "|(?<=[\N{FULLWIDTH COMMA}\N{FULLWIDTH SEMICOLON}\N{FULLWIDTH EXCLAMATION MARK}\u3002])(?=.)"
)
_MARKS: Final = " ,;:.!?-\N{EN DASH}\N{EM DASH}\N{FULLWIDTH COMMA}\N{FULLWIDTH SEMICOLON}\u3002"
# A clause is a remark on the rest if it begins with a word of one of these classes, and has none of those below.
_REMARKING: Final = frozenset({"it", "this", "every", "hello"})
# What forbids, limits, demands, counts or quotes.
_LIMITING: Final = frozenset(
    {"never", "only", "none", "nobody", "not", "do_not", "forbidden", "without", "must", "should"}
    | {"if", "when", "unless", "instead", "ask_me", "approve", "#", QUOTE}
)
# Quotation marks and brackets stay in pairs.
_PAIRS: Final = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'), ("`", "`"), ("«", "»"), ("“", "”"))
# Shorter clauses are not worth the mark that stands for them.
LEAST_SAVED_CHARS: Final = 8


@lru_cache(maxsize=MOST_READ)
def terse(sentence: str) -> str:
    """The sentence without remarks before the first clause that names something, and after the last.

    A mark stands where something is left out. A sentence that names nothing stays as it is.
    """
    cuts = [0, *(edge.start() for edge in _EDGE.finditer(sentence)), len(sentence)]
    named = [found.start for found in specifics(sentence)]
    clauses = list(pairwise(cuts))
    if len(clauses) == 1 or not named:
        return sentence
    language = language_of(sentence)
    needed = [
        (start, end)
        for start, end in clauses
        if any(start <= place < end for place in named) or not _is_remark(sentence[start:end], language)
    ]
    start, end = needed[0][0], needed[-1][1]
    rest = sentence[start:end].lstrip()
    if end < len(sentence):
        rest = f"{rest.rstrip(_MARKS)}{GONE}"
    if start:
        rest = f"{GONE}{rest}"
    is_worthwhile = len(sentence) - len(rest) >= LEAST_SAVED_CHARS
    return rest if is_worthwhile and all(_is_paired(rest, *pair) for pair in _PAIRS) else sentence


def _is_remark(clause: str, language: Language) -> bool:
    classes = language.vocabulary.classes(tokens(clause))
    first = next((several for several in classes if several[0] not in _MARKS), ())
    return not _REMARKING.isdisjoint(first) and all(map(_LIMITING.isdisjoint, classes))


def _is_paired(text: str, opening: str, closing: str) -> bool:
    return text.count(opening) % 2 == 0 if opening == closing else text.count(opening) == text.count(closing)
