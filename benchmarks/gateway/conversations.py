"""Conversations of coding agents in Anthropic's format, and bodies of requests, each with the whole history."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

from benchmarks.transcripts import WORDS, transcript
from foldline.engine.formats import FORMATS
from foldline.engine.gateway.cache_marks import with_last_marked
from foldline.engine.gateway.dialects import RequestBody
from foldline.engine.tokens.counter import count_messages
from foldline.engine.wire import dumps

MODEL: Final = "claude-sonnet-4-5"
MARK: Final = {"type": "ephemeral"}
# So much more of a transcript than is needed in the mean: lengths of results differ.
TOKENS_A_MESSAGE: Final = 300


def _tool(name: str, *fields: str) -> dict[str, Any]:
    properties = {field: {"type": "string", "description": f"The {field} of {name}."} for field in fields}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return {"name": name, "description": f"{name}: {' '.join(WORDS)}.", "input_schema": schema}


FIXED: Final = {
    "model": MODEL,
    "max_tokens": 8_000,
    "stream": True,
    "system": [{"type": "text", "text": "You are a coding agent. " + " ".join(WORDS) * 20, "cache_control": MARK}],
    "tools": [
        _tool("read_file", "path"),
        _tool("grep", "pattern", "path"),
        _tool("edit", "path", "old", "new"),
        _tool("bash", "command"),
    ],
}


def history(tokens: int, requests: int, seed: int) -> list[list[dict[str, Any]]]:
    """The messages of so many requests in a row, of which the last has about so many tokens.

    Each but the first has the last one's answer, a call, and its result besides.
    """
    said = FORMATS["openai"].parse(transcript(max(tokens // TOKENS_A_MESSAGE, 2 * requests + 2), seed))
    sizes = accumulate(count_messages([message]) for message in said)
    length = next((at for at, size in enumerate(sizes, 1) if size >= tokens), len(said))
    wires = list(FORMATS["anthropic"].render(said[:length], None, MODEL).messages)
    ends = [at for at, wire in enumerate(wires) if wire["role"] == "assistant"]
    return [wires[:end] for end in ends[-requests:]]


def body(messages: list[dict[str, Any]]) -> bytes:
    """The body of a request; like agents, it has a mark for the cache on its last block."""
    return RequestBody("messages", FIXED, with_last_marked([*map(dumps, messages)], MARK)).json()


def bodies(tokens: int, requests: int, seed: int) -> Iterator[bytes]:
    """The bodies of such requests."""
    return map(body, history(tokens, requests, seed))
