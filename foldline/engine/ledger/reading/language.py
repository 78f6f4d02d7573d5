"""What a language's words say about a sentence: features, found by patterns that are data (see `languages`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from foldline.engine.ledger.reading.vocabulary import Vocabulary

_NOTHING: Final = r"(?!)"
# What marks a sentence beside the features.
CUES: Final = ("asks_later", "decides", "resolves", "replaces", "prefers")
HINT_CHARS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
# The letters with which an alternative of a pattern begins, without one that may be left out.
_LITERAL: Final = re.compile(r"[^\W\d_]*(?![?*{])")
# Features that ask how a sentence begins.
_FIRST: Final = ("_first", "chatter")


@dataclass(frozen=True, eq=False)
class Language:
    """A language, and the patterns of its features, for text in lower case.

    It is recognised by its words and its own letters. `words` are its words by class (see `vocabulary`). `asks_later`
    marks requests that stay open, `decides` decisions, `resolves` what ended an error, `replaces` that a value is new,
    and `prefers` preferences that are no rules. Every repetition in a pattern is bounded.
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
        edge = r"\b" if self.has_words else ""
        return re.compile(f"{edge}{pattern}{edge}")

    def _hints(self, pattern: str) -> frozenset[str]:
        return first_letters(pattern) if self.has_words else frozenset()


def first_letters(pattern: str) -> frozenset[str]:
    """The first letters, at most `HINT_CHARS`, of words that begin a match; none if it may begin with any word."""
    hints = {_first_literal(alternative)[:HINT_CHARS] for alternative in _alternatives(pattern)}
    return frozenset() if "" in hints else frozenset(hints)


def _first_literal(alternative: str) -> str:
    found = _LITERAL.match(alternative)
    return found.group() if found else ""


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of the group with which a pattern begins; one that may begin with anything if there is none."""
    depth = 0
    cuts = [len("(?:") - 1]
    for place, character in enumerate(pattern):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 1 and character == "|":
            cuts.append(place)
        elif depth == 0:
            is_needed = pattern.startswith("(?:") and pattern[place + 1 : place + 2] not in {"?", "*", "{", "|"}
            return [pattern[a + 1 : b] for a, b in pairwise([*cuts, place])] if is_needed else [""]
    return [""]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern, and how the first words of a match begin: a text without such words needs no search."""

    pattern: re.Pattern[str]
    hints: frozenset[str]

    def occurs_in(self, text: str, starts: frozenset[str]) -> bool:
        """Whether a text, whose words have these beginnings, has the pattern."""
        return not (self.hints and starts.isdisjoint(self.hints)) and self.pattern.search(text) is not None


@lru_cache(maxsize=8)
def _starts(text: str) -> frozenset[str]:
    """The words of a text, each by its first characters, for all lengths up to `HINT_CHARS`."""
    longest = {word[:HINT_CHARS] for word in _WORD.findall(text)}
    return frozenset(start[:length] for start in longest for length in range(1, len(start) + 1))
