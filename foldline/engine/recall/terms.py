"""The terms of a text: what an index has of it, and what a question is asked with. Both are made by one function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final
from unicodedata import normalize

# A term is letters, digits and underscores alone, so that it means nothing to the query language of any database.
TERM_CHARS: Final = 48
# Longer runs are data, such as an image's, and nobody asks for a part of them.
LONGEST_WORD: Final = 200
_WORD: Final = re.compile(r"\w+")
# Scripts that are written without spaces: each two neighbours are a term.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS: Final = re.compile(rf"([{_UNSPACED}]+)|[^{_UNSPACED}]+")
# The parts of an identifier: fooBar, HTTPServer, foo_bar, v2beta.
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", ""), ("e", ""))
# What is left of a word without its ending has at least so many letters.
_STEM_CHARS: Final = 3
_KEEP_S: Final = ("ss", "us", "is")
# Words that nearly every text has.
_COMMON_WORDS: Final = """
a about after again all also am an and any are as at be because been before being both but by can could did do does
doing done for from get had has have he her here him his how i if in into is it its just let may me might more most my
no nor not now of off on once only or other our out over own please same she should so some such than that the their
them then there these they this those to too under until up us very was we were what when where which while who whom
why will with would you your
aber als auch auf aus bei bin bis das dass dem den der des die doch du ein eine einem einen einer er es für hat hatte
ich ihr im ist ja kann kein mir mit nach nicht noch nur oder sein sich sie sind so um und uns von vor war was wenn wer
wie wir wird wo zu zum zur
au aux avec ce ces cette comme dans de des du elle en est et il ils je la le les leur mais ne nous ou par pas pour que
qui sa se ses son sont sur un une vous
al con del el ella en entre era es esta este la las lo los más muy no o para pero por que se si sin su sus un una y ya
"""
COMMON: Final = frozenset(_COMMON_WORDS.split())


def terms_of(text: str) -> set[str]:
    """The terms of a text, without words that nearly every text has and letters that stand alone."""
    found: set[str] = set()
    for word in set(_WORD.findall(text)):
        found.update(_terms(word) if len(word) <= TERM_CHARS else _terms_of_long(word))
    return found


def ordered_terms(text: str) -> list[str]:
    """The same terms, in the order in which the text has them."""
    return list(dict.fromkeys(term for word in _WORD.findall(text) for term in _terms(word[:LONGEST_WORD])))


def _terms_of_long(word: str) -> tuple[str, ...]:
    """A long run of a script without spaces is a sentence; of others it is data, found by its beginning."""
    return _split(word) if _RUNS.match(word) and not word.isascii() else _terms(word[:LONGEST_WORD])


@lru_cache(maxsize=1 << 16)
def _terms(word: str) -> tuple[str, ...]:
    return _split(word)


def _split(word: str) -> tuple[str, ...]:
    if word.isascii():
        return tuple(dict.fromkeys(_terms_of_ascii(word)))
    word = normalize("NFKC", word)
    runs = ((match[0], bool(match[1])) for match in _RUNS.finditer(word))
    return tuple(dict.fromkeys(term for run, unspaced in runs for term in (_pairs(run) if unspaced else _folded(run))))


def _terms_of_ascii(word: str) -> Iterator[str]:
    yield from _folded(word)
    if not (word.islower() and word.isalpha()):
        parts = _PARTS.findall(word)
        if len(parts) > 1:
            for part in parts:
                yield from _folded(part)


def _folded(word: str) -> Iterator[str]:
    folded = word.casefold().strip("_")
    # Normalizing and folding can make characters that are no part of words.
    if len(folded) > 1 and folded not in COMMON and _WORD.fullmatch(folded):
        yield _stem(folded)[:TERM_CHARS]


def _stem(word: str) -> str:
    """The word without an English ending, so that "creates", "created" and "creating" are one term."""
    if not (word.isascii() and word.isalpha()):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            if ending == "s" and word.endswith(_KEEP_S):
                continue
            stem = word[: -len(ending)] + instead
            return _stem(stem) if ending == "s" else _undoubled(stem)
    return word


def _undoubled(stem: str) -> str:
    """`runn`, of "running", as `run`."""
    return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "aeioulsz" else stem


def _pairs(run: str) -> Iterator[str]:
    """Each two neighbouring characters of a script without spaces, or a single one."""
    if len(run) == 1:
        yield run
    # Some characters of these ranges are marks, which databases may take for spaces.
    yield from (pair for first, second in pairwise(run) if (pair := first + second).isalnum())
