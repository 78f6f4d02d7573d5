"""What a language's words say about a sentence: features, found by patterns that are data (see `languages`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from foldline.engine.ledger.reading.vocabulary import Vocabulary

_NOTHING: Final = r"(?!)"
# What marks a sentence beside the features.
CUES: Final = ("asks_later", "decides", "resolves", "replaces", "prefers")
HINT_CHARS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
# What is no literal letter: escapes, letters that may be left out, and classes of letters.
_ESCAPE: Final = re.compile(r"\\.|\w\?|\[[^\]]{1,20}\]")
# Features that ask how a sentence begins.
_FIRST: Final = ("_first", "chatter")


@dataclass(frozen=True)
class Language:
    """A language, and the patterns of its features, for text in lower case.

    It is recognised by its commonest words and its own letters. `words` are its words by class (see `vocabulary`).
    `asks_later` marks requests that stay open, `decides` decisions, `resolves` what ended an
    error, `replaces` that a value is new, and `prefers` preferences that are no rules. Every repetition in a pattern is
    bounded.
    """

    name: str
    words: Mapping[str, str]
    common: str
    features: Mapping[str, str]
    letters: str = ""
    has_words: bool = True
    asks_later: str = _NOTHING
    decides: str = _NOTHING
    resolves: str = _NOTHING
    replaces: str = _NOTHING
    prefers: str = _NOTHING

    @cached_property
    def own_words(self) -> frozenset[str]:
        """The words that say that a text is in this language: its commonest ones, and those of its vocabulary."""
        return self.vocabulary.known.union(self.common.split())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its words by class."""
        return Vocabulary(self.words)

    def marks(self, name: str, text: str) -> bool:
        """Whether a text in lower case has a feature, or one of the cues that are none, such as `decides`."""
        return self._patterns[name].occurs_in(text, _starts(text))

    @cached_property
    def _patterns(self) -> Mapping[str, _Pattern]:
        cues = {name: getattr(self, name) for name in CUES}
        return {
            name: _Pattern(self._compiled(text, name), self._hints(text))
            for name, text in {**self.features, **cues}.items()
        }

    def _compiled(self, pattern: str, name: str) -> re.Pattern[str]:
        if name.endswith(_FIRST):
            return re.compile(rf"\A\W{{0,3}}{pattern}")
        edge = r"\b" if self.has_words and name != "quoted" else ""
        return re.compile(f"{edge}{pattern}{edge}")

    def _hints(self, pattern: str) -> frozenset[str]:
        return (
            frozenset(word[:HINT_CHARS] for word in _WORD.findall(_ESCAPE.sub(" ", pattern)))
            if self.has_words
            else frozenset()
        )


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern, and the beginnings of all words in it: a text that has none of these needs no search."""

    pattern: re.Pattern[str]
    hints: frozenset[str]

    def occurs_in(self, text: str, starts: frozenset[str]) -> bool:
        """Whether a text, whose words have these beginnings, has the pattern."""
        return not (self.hints and starts.isdisjoint(self.hints)) and self.pattern.search(text) is not None


@lru_cache(maxsize=8)
def _starts(text: str) -> frozenset[str]:
    """The words of a text, each by its first characters, for all lengths up to `HINT_CHARS`."""
    words = set(_WORD.findall(text))
    return frozenset(word[:length] for word in words for length in range(1, HINT_CHARS + 1))
