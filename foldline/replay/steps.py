"""Splits a transcript into steps, one for each call of the model, and counts what was sent up to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message, Text, ToolCall, answered_call
from foldline.engine.tokens.counter import count_messages, count_system, count_tools
from foldline.replay.view_count import plain_tokens

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the model: the messages `before` it, and those of its `answer`, none if the transcript ends there."""

    before: list[JsonDict]
    answer: list[JsonDict]


def steps_of(messages: Sequence[JsonDict], format_name: str) -> Iterator[Step]:
    """The steps of a transcript; together they have every message once, in order.

    Neighbours that the format reads as one message, as items of one response, are one answer.
    """
    parse = FORMATS[format_name].parse
    before: list[JsonDict] = []
    answer: list[JsonDict] = []
    for message in messages:
        if answer and len(parse([*answer, message])) == 1:
            answer.append(message)
            continue
        if answer:
            yield Step(before, answer)
            before, answer = [], []
        is_answer = any(said.role == "assistant" for said in parse([message]))
        (answer if is_answer else before).append(message)
    if before or answer:
        yield Step(before, answer)


def fixed_tokens(system: str | None, tools: Sequence[JsonDict]) -> int:
    """The tokens of the system prompt and the tools."""
    return count_system(system) + count_tools(tools)


@dataclass(slots=True)
class TranscriptProgress:
    """What a session was sent so far, counted apart from the service's answers.

    `fixed_tokens` and `message_tokens` are counted as the engine does. `plain_tokens` are those of the messages as a
    model without Foldline would get them.
    """

    format: str
    fixed_tokens: int = 0
    message_tokens: int = 0
    plain_tokens: int = 0
    appends: int = 0
    messages: int = 0
    entries: int = 0
    turns: int = 0
    waiting: list[ToolCall] = field(default_factory=list)
    last_user: tuple[str, ...] = ()
    last_user_tokens: int = 0
    ends_with_user: bool = False

    @property
    def open_calls(self) -> list[str]:
        """The ids of the calls that wait for their results."""
        return [call.id for call in self.waiting]

    @property
    def least_tokens(self) -> int:
        """The tokens of the fixed parts and the last user message, which no compaction may remove."""
        return self.fixed_tokens + self.last_user_tokens

    @property
    def all_tokens(self) -> int:
        """The tokens of a view without any compaction."""
        return self.fixed_tokens + self.message_tokens

    def add(self, wire: Sequence[JsonDict]) -> None:
        """Count messages that were appended together."""
        self.appends += 1
        self.messages += len(wire)
        parsed = FORMATS[self.format].parse(wire)
        self.entries += len(parsed)
        self.message_tokens += count_messages(parsed)
        self.plain_tokens += plain_tokens(self.format, wire)
        for message in parsed:
            self._follow(message)

    def _follow(self, message: Message) -> None:
        result = message.result
        if result is None:
            self.waiting = list(message.calls)
        elif (call := answered_call(result, self.waiting)) is not None:
            self.waiting.remove(call)
        self.ends_with_user = message.role == "user"
        if self.ends_with_user:
            self.turns += 1
            self.last_user = tuple(_texts(message))
            self.last_user_tokens = count_messages([message])


def _texts(message: Message) -> Iterator[str]:
    return (part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
