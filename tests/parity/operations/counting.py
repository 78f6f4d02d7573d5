"""Counting by estimate."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from compaction.estimates import ESTIMATES, context_count
from compaction.formats import FORMATS
from compaction.messages import Message
from tests.parity.vectors import Json, Operation, Operations

USAGE: Final = ("input", "output", "cache_read", "cache_write")


def messages_of(values: list[Json]) -> list[Message]:
    """Messages of the vectors' shape, one for each."""
    return [message_of(value) for value in values]


def message_of(value: Json) -> Message:
    """A message of the vectors' shape: OpenAI's, with fields of its own."""
    known = {key: value[key] for key in ("role", "content", "tool_calls", "tool_call_id", "name") if key in value}
    (message,) = FORMATS["openai"].parse([known])
    return message


def _text_tokens(system: str) -> Operation:
    def answer(args: Json) -> Json:
        estimate = ESTIMATES[args.get("counter") or system]
        return {"tokens": estimate.text(args["text"], args.get("provider"), is_code=args.get("is_code", False))}

    # A count that is off is not unsafe; one that makes a longer text cheaper would be.
    def is_safe(args: Json, found: Json) -> bool:
        return bool(found["tokens"] <= answer({**args, "text": args["text"] * 2})["tokens"])

    return Operation(answer, is_safe)


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


def _positive(_args: Json, found: Json) -> bool:
    return bool(found["tokens"] >= 0)


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "tokens"): _text_tokens("neurolink"),
        ("neurolink", "conversation_tokens"): Operation(_conversation_tokens, _positive),
        ("agent_code", "tokens"): _text_tokens("agent-code"),
        ("agent_code", "message_tokens"): Operation(_message_tokens, _positive),
        ("agent_code", "context_tokens"): Operation(_context_tokens, _positive),
        ("codebuddy", "tokens"): _text_tokens("codebuddy"),
    }
)
