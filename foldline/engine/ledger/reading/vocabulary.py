"""Sorts the words of a sentence into classes, such as words that forbid or that name people. The words are in `words`.

A vocabulary gives for each class its words, separated by spaces. `_` stands for a space in an expression of several
words, and `*` at the end of a word for any ending. A word may be in several classes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

# Chinese has no spaces: each of its characters is a token. An elided word ends with its apostrophe ("l'").
_TOKEN: Final = re.compile(
    r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+(?:[-_](?=[^\W\d_])[^\W\d_\u3400-\u9fff]+)*'?|\d+(?:[.,:]\d+)*"
    '|[?!:,;"“”„«»「」『』\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH COMMA}\N{FULLWIDTH COLON}'
    "\N{FULLWIDTH EXCLAMATION MARK}]"
)
NUMBER: Final = "#"
QUOTE: Final = "«"
# A token in no class.
UNKNOWN: Final = "*"
# A token in no class that has a capital within a sentence.
NAME: Final = "name"
_NO_CLASS: Final = (UNKNOWN,)
_CAPITAL: Final = re.compile(r"(?<=[^\W\d_,;)] )[A-Z\u00c0-\u00de][^\W\d_]+")
_ENDING: Final = "*"
_SHORTEST_STEM: Final = 3
_SAME: Final = str.maketrans(
    {
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{FULLWIDTH QUESTION MARK}": "?",
        "\N{FULLWIDTH COMMA}": ",",
        "\N{FULLWIDTH COLON}": ":",
        "\N{FULLWIDTH EXCLAMATION MARK}": "!",
        **dict.fromkeys('"“”„»「」『』', QUOTE),
    }
)


def tokens(text: str) -> list[str]:
    """The words, numbers (each `NUMBER`) and marks of a text, in lower case; quotation marks are `QUOTE`."""
    return [NUMBER if token[0].isdigit() else token for token in _TOKEN.findall(text.lower().translate(_SAME))]


def names(text: str) -> frozenset[str]:
    """The words of a text that have a capital and do not begin a sentence, in lower case."""
    return frozenset(word.lower() for word in _CAPITAL.findall(text))


class Vocabulary:
    """The classes of a language's words and expressions."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._phrases: dict[str, list[tuple[list[str], tuple[str, ...]]]] = {}
        self._stems: dict[str, tuple[str, ...]] = {}
        self.known: frozenset[str] = frozenset()
        self._index(words)
        self._of_word = lru_cache(maxsize=4096)(self._look_up)

    def classes(self, sentence: Sequence[str], names: Collection[str] = ()) -> list[tuple[str, ...]]:
        """The classes of each expression of a sentence of tokens, in order; tokens in no class in a row are one.

        Tokens in no class are of the class `NAME` if they are in `names`.
        """
        found: list[tuple[str, ...]] = []
        place = 0
        while place < len(sentence):
            classes, length = self._longest(sentence, place)
            if classes == _NO_CLASS and sentence[place] in names:
                classes = (NAME,)
            if classes != _NO_CLASS or not found or found[-1] != classes:
                found.append(classes)
            place += length
        return found

    def _longest(self, sentence: Sequence[str], place: int) -> tuple[tuple[str, ...], int]:
        token = sentence[place]
        for phrase, classes in self._phrases.get(token, ()):
            if sentence[place : place + len(phrase)] == phrase:
                return classes, len(phrase)
        return self._of_word(token), 1

    def _look_up(self, token: str) -> tuple[str, ...]:
        if not token[0].isalpha():
            return (token,)
        for end in range(len(token), _SHORTEST_STEM, -1):
            if classes := self._stems.get(token[:end]):
                return classes
        return _NO_CLASS

    def _index(self, words: Mapping[str, str]) -> None:
        exact: dict[tuple[str, ...], list[str]] = defaultdict(list)
        stems: dict[str, list[str]] = defaultdict(list)
        for name, text in words.items():
            for entry in text.split():
                if entry.endswith(_ENDING):
                    stems[entry.removesuffix(_ENDING)].append(name)
                else:
                    exact[tuple(tokens(entry.replace("_", " ")))].append(name)
        self._stems = {stem: tuple(names) for stem, names in stems.items()}
        for phrase in sorted(exact, key=len, reverse=True):
            self._phrases.setdefault(phrase[0], []).append((list(phrase), tuple(exact[phrase])))
        self.known = frozenset(phrase[0] for phrase in exact if len(phrase) == 1)
