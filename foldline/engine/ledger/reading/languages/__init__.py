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


def language_of(text: str, otherwise: Language = ENGLISH) -> Language:
    """The language of a text; `otherwise` if no other is likelier."""
    text = text[:_READ_CHARS]
    is_ascii = text.isascii()
    if not is_ascii and len(_HAN.findall(text)) * 4 > len(text):
        return CHINESE
    lower = text.lower()
    words = frozenset(_WORD.findall(lower))

    def evidence(language: Language) -> tuple[int, bool]:
        letters = 0 if is_ascii else sum(letter in lower for letter in language.letters)
        return len(words & language.own_words) + 2 * letters, language is otherwise

    return max(_WITH_WORDS, key=evidence)
