"""A story, and its source: what its writer was given, and who said what in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from foldline.engine.arguments import json_object
from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.items import ItemKind
from foldline.engine.messages import Other, Part, Text, Thinking, ToolCall, ToolResult, provider_summary, result_text
from foldline.engine.summaries.prompt import SummaryInput, own_text

# Shorter words are mostly those that every sentence has. In Chinese and Japanese, pairs of characters serve as words.
_WORD: Final = re.compile(r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff]{4,30}|(?=([\u3040-\u30ff\u4e00-\u9fff]{2}))")
_SHORT_WORD: Final = re.compile(r"[^\W\u3040-\u30ff\u4e00-\u9fff]+")
_SPACES: Final = re.compile(r"\s+")
_WIDE: Final = "\u2e80"
_NUMBER: Final = re.compile(r"\d+")
_SEPARATED: Final = re.compile(r"(?<=\d)[,.'\N{RIGHT SINGLE QUOTATION MARK}\s](?=\d{3}(?!\d))")
_UNSPACED: Final = re.compile(r"([\u2e80-\uffef]+)")
_BEFORE_SIGN: Final = re.compile(r"(?<=\d)\s+(?=%)")
# What users and system prompts say that stands in force: only of that a rule may be made.
_DEMANDING: Final = frozenset({ItemKind.RULE, ItemKind.PREFERENCE, ItemKind.REQUEST})


@dataclass(frozen=True, slots=True)
class Story:
    """A writer's answer. One that broke off has no finish reason; one that no model gave is complete."""

    text: str
    finish_reason: str | None = "stop"
    has_tool_calls: bool = False


class Demand(NamedTuple):
    """What a user or the system prompt demanded, with all its words."""

    text: str
    words: frozenset[str]


def spelled(text: str) -> str:
    """The text with numbers without separators, and with spaces around writing that has none between words."""
    return _UNSPACED.sub(r" \1 ", _SEPARATED.sub("", text))


def folded(text: str) -> str:
    """The text for a comparison: `spelled`, in lower case, with single spaces."""
    return _BEFORE_SIGN.sub("", _SPACES.sub(" ", spelled(text.casefold()))).strip()


def words_of(text: str) -> frozenset[str]:
    """The words of a folded text that are no function words."""
    return frozenset(match[1] or match[0] for match in _WORD.finditer(text))


def all_words_of(text: str) -> frozenset[str]:
    """The words of a folded text; pairs of characters in Chinese and Japanese."""
    return words_of(text) | frozenset(_SHORT_WORD.findall(text))


class FoldedText:
    """A text, folded, in which names are looked for."""

    def __init__(self, text: str) -> None:
        self.text = folded(text)

    @cached_property
    def numbers(self) -> Collection[str]:
        """The runs of digits in it."""
        return frozenset(_NUMBER.findall(self.text))

    def has(self, name: str) -> bool:
        """Whether it has a name, a path or a number, and not only as a part of a longer one."""
        wanted = folded(name)
        if wanted.isdecimal():
            return wanted in self.numbers
        start = self.text.find(wanted) if wanted else -1
        while start >= 0:
            before, after = self.text[start - 1 : start], self.text[start + len(wanted) : start + len(wanted) + 1]
            if not _continues(before, wanted[0]) and not _continues(after, wanted[-1]):
                return True
            start = self.text.find(wanted, start + 1)
        return False


class StorySource:
    """What a story may say: its names, numbers and words, and the rules that stand in force.

    The items of the ledger are a part of it, as they may stand in a summary beside the story.
    """

    def __init__(self, request: SummaryInput) -> None:
        self._request = request

    @cached_property
    def _lines(self) -> Sequence[LedgerLine]:
        return assemble(self._request.items)

    @cached_property
    def _folded(self) -> FoldedText:
        request = self._request
        said = (text for message in request.said for text in texts_of(message.parts))
        listed = (line.text for line in self._lines)
        return FoldedText("\n".join((*request.previous, request.instructions or "", *said, *listed)))

    @property
    def text(self) -> str:
        """All that was said, folded."""
        return self._folded.text

    @property
    def numbers(self) -> Collection[str]:
        """The runs of digits in it."""
        return self._folded.numbers

    @cached_property
    def prompt(self) -> str:
        """What the prompt says itself, whatever the conversation, folded."""
        return folded(own_text(self._request))

    @cached_property
    def words(self) -> Collection[str]:
        """The words of what was said."""
        return words_of(self.text)

    @cached_property
    def demands(self) -> Sequence[Demand]:
        """What a rule may be made of."""
        texts = (folded(line.text) for line in self._lines if line.item.kind in _DEMANDING)
        return [Demand(text, all_words_of(text)) for text in texts]

    def has(self, name: str) -> bool:
        """Whether a name, a path or a number was said, and not only as a part of a longer one."""
        return self._folded.has(name)


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for each in value.values() for text in _strings(each))
        case list():
            yield from (text for each in value for text in _strings(each))


def _continues(letter: str, edge: str) -> bool:
    """Whether a letter beside the edge of a name makes it another: beside a digit only a digit does.

    Where words have no spaces between them, none does.
    """
    return letter.isdigit() if edge.isdigit() else letter.isalnum() and letter < _WIDE


def texts_of(parts: Iterable[Part]) -> Iterator[str]:
    """What these parts of a message say, and the calls in them."""
    for part in parts:
        match part:
            case Text(text=text) | Thinking(text=text):
                yield text
            case ToolCall(name=name, arguments=arguments):
                # The escapes of JSON hide letters.
                yield " ".join((name, arguments, *_strings(json_object(arguments))))
            case ToolResult():
                yield result_text(part)
            case Other():
                yield provider_summary(part)
            case _:
                pass
