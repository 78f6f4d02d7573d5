"""The languages whose sentences are understood, and which one a text is in."""

from __future__ import annotations

import re
from typing import Final

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.languages.chinese import CHINESE
from foldline.engine.ledger.reading.languages.english import ENGLISH
from foldline.engine.ledger.reading.languages.french import FRENCH
from foldline.engine.ledger.reading.languages.german import GERMAN
from foldline.engine.ledger.reading.languages.spanish import SPANISH

__all__ = ["LANGUAGES", "language_of"]

LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH, CHINESE)
_WITH_WORDS: Final = tuple(language for language in LANGUAGES if language.has_words)
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_WORD: Final = re.compile(r"\w+")
# A few sentences say which language it is.
_READ_CHARS: Final = 400


def language_of(text: str) -> Language:
    """The language of a text; English if none is recognised."""
    text = text[:_READ_CHARS]
    if not text.isascii() and len(_HAN.findall(text)) * 4 > len(text):
        return CHINESE
    lower = text.lower()
    words = _WORD.findall(lower)

    def evidence(language: Language) -> int:
        letters = sum(letter in lower for letter in language.letters) if not text.isascii() else 0
        return sum(word in language.common_words for word in words) + 2 * letters

    return max(_WITH_WORDS, key=evidence)
