"""Counting by estimate."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.tokens.estimates import ESTIMATES, context_count
from tests.parity.vectors import Json, Operation, Operations

USAGE: Final = ("input", "output", "cache_read", "cache_write")
# What is code in a text: fences, and braces, each as short as they can be.
CODE: Final = (re.compile(r"```.*?```", re.DOTALL), re.compile(r"\{.*?\}", re.DOTALL))


def messages_of(values: list[Json]) -> list[Message]:
    """Messages of the vectors' shape, one for each."""
    return [message_of(value) for value in values]


def message_of(value: Json) -> Message:
    """A message of the vectors' shape: OpenAI's, with fields of its own."""
    known = {key: value[key] for key in ("role", "content", "tool_calls", "tool_call_id", "name") if key in value}
    (message,) = FORMATS["openai"].parse([known])
    return message


def no_recorded_defect(_args: Json, _found: Any) -> bool:
    """Of an operation without a recorded defect: no promise is known to be broken, so one that turns up fails."""
    return False


def _text_tokens(system: str, is_safe: Callable[[Json, Json], bool] = no_recorded_defect) -> Operation:
    def answer(args: Json) -> Json:
        estimate = ESTIMATES[args.get("counter") or system]
        return {"tokens": estimate.text(args["text"], args.get("provider"), is_code=args.get("is_code", False))}

    return Operation(answer, is_safe)


def _counts_code_once(args: Json, found: Json) -> bool:
    """Braces inside a fence make its characters no more of the text than they are."""
    widths = [1 + (char > "\uffff") for char in args["text"]]
    code = {at for kind in CODE for match in kind.finditer(args["text"]) for at in range(*match.span())}
    foreign = sum(width for char, width in zip(args["text"], widths, strict=True) if char > "\x7f")
    prose = 2.5 if sum(widths[at] for at in code) > sum(widths) * 0.5 else 3.5
    density = 1.5 if foreign > sum(widths) * 0.3 else prose
    return bool(found["tokens"] == ceil(sum(widths) / density * 1.1))


def _conversation_tokens(args: Json) -> Json:
    return {"tokens": ESTIMATES["neurolink"].of_conversation(messages_of(args["messages"]), args.get("provider"))}


def _message_tokens(args: Json) -> Json:
    return {"tokens": ESTIMATES["agent-code"].of_message(message_of(args["message"]))}


def _context_tokens(args: Json) -> Json:
    estimates = [ESTIMATES["agent-code"].of_message(message) for message in messages_of(args["messages"])]
    reported = {
        index: sum(message["usage"][key] for key in USAGE)
        for index, message in enumerate(args["messages"])
        if message.get("usage")
    }
    counted = context_count(estimates, reported)
    return {"tokens": counted.tokens, "last_usage": counted.last_usage}


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "tokens"): _text_tokens("neurolink"),
        ("neurolink", "conversation_tokens"): Operation(_conversation_tokens, no_recorded_defect),
        ("agent_code", "tokens"): _text_tokens("agent-code"),
        ("agent_code", "message_tokens"): Operation(_message_tokens, no_recorded_defect),
        ("agent_code", "context_tokens"): Operation(_context_tokens, no_recorded_defect),
        ("codebuddy", "tokens"): _text_tokens("codebuddy", _counts_code_once),
    }
)
