"""A provider on loopback, over real HTTP, that signs its reasoning and refuses it after another prefix.

It speaks the part of Anthropic's Messages API that an agent needs. As that API's page on preserved thinking describes,
a signature is bound to model, system prompt, tools and all messages before; whoever changes one of these is refused.
As its pages on compaction on demand describe, it also summarizes the messages of a request into a signed block, which
stands for exactly these in later requests with the same header.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from random import Random
from threading import Thread
from typing import Any

Json = dict[str, Any]
REFUSAL = (
    "messages.{number}.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
    'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


UNKNOWN_TYPE = "messages.0.content.0: Input tag 'compaction' does not match any of the expected tags"
COMPACTION_HEADER = "compact-2026-09-04"
SUMMARY_TOKENS = 60


@dataclass
class SigningProvider:
    """Answers with signed reasoning, and now and then with calls of a tool; `refusals` counts what it refused.

    `blocks_taken` counts requests with a block. Compactions fail while
    `is_overloaded`, and no tool is called unless it `calls_tools`.
    """

    seed: int
    url: str = ""
    refusals: int = 0
    reasoning_taken: int = 0
    blocks_taken: int = 0
    is_overloaded: bool = False
    calls_tools: bool = True
    compactions: list[Json] = field(default_factory=list)
    _blocks: dict[str, tuple[Json, list[Json]]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def answer(self, request: Json, beta: str = "") -> tuple[int, Json]:
        """Status and body of the answer to a request with this `anthropic-beta` header."""
        try:
            request = {**request, "messages": self._expanded(request["messages"], beta)}
        except _Refused as refused:
            self.refusals += 1
            return 400, _error(str(refused))
        status, refusal = self._checked(request)
        if refusal is not None:
            return status, refusal
        if "compaction" in request:
            return self._compacted(request, beta)
        return 200, self._message(request)

    def forget_blocks(self) -> None:
        """From now on, refuse the blocks that it made so far."""
        self._blocks.clear()

    def _expanded(self, messages: list[Json], beta: str) -> list[Json]:
        """The messages, with those that a block stands for in its place."""
        places = [number for number, message in enumerate(messages) for block in _compactions(message)]
        if not places:
            return messages
        (block,) = _compactions(messages[0]) or [{}]
        known, stands_for = self._blocks.get(block.get("signature", ""), ({}, []))
        if COMPACTION_HEADER not in beta:
            raise _Refused(UNKNOWN_TYPE)
        if places != [0]:
            raise _Refused("compaction_block_misplaced")
        if block != known:
            raise _Refused("compaction_signature_invalid")
        self.blocks_taken += 1
        rest = [part for part in messages[0]["content"] if part != block]
        return [*stands_for, *([{**messages[0], "content": rest}] if rest else []), *messages[1:]]

    def _checked(self, request: Json) -> tuple[int, Json | None]:
        for number, message in enumerate(request["messages"]):
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] != "thinking":
                    continue
                if block["signature"] != _signature(request, number):
                    self.refusals += 1
                    return 400, _error(REFUSAL.format(number=number))
                self.reasoning_taken += 1
        return 200, None

    def _compacted(self, request: Json, beta: str) -> tuple[int, Json]:
        self.compactions.append(request)
        messages = request["messages"]
        if self.is_overloaded:
            return 400, _error(f"no compaction of this: {request['system']}")
        if COMPACTION_HEADER not in beta or "context_management" in request or _has_open_calls(messages):
            self.refusals += 1
            return 400, _error("`compaction` cannot be used in this request")
        content = f"{len(messages)} messages were summarized. " + "note " * SUMMARY_TOKENS
        signature = f"compacted {self.seed} {_signature(request, len(messages))}"
        block = {"type": "compaction", "content": content, "signature": signature}
        self._blocks[signature] = block, messages
        usage = {"type": "compaction", "input_tokens": 1_000, "output_tokens": 100}
        return 200, {
            "role": "assistant",
            "content": [block],
            "stop_reason": "compaction",
            "usage": {"input_tokens": 0, "output_tokens": 0, "iterations": [usage]},
        }

    def _message(self, request: Json) -> Json:
        number = next(self._numbers)
        signature = _signature(request, len(request["messages"]))
        thinking = {"type": "thinking", "thinking": f"thought {number} " * 20, "signature": signature}
        calls = [
            {"type": "tool_use", "id": f"toolu_{self.seed}_{number}_{index}", "name": "look", "input": {"at": number}}
            for index in range(self._random.choice((0, 1, 1, 2)) if self.calls_tools else 0)
        ]
        content = [thinking, {"type": "text", "text": f"answer {number} of {self.seed}"}, *calls]
        return {
            "role": "assistant",
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }


def _signature(request: Json, number: int) -> str:
    before = [request["model"], request.get("system"), request.get("tools"), request["messages"][:number]]
    return hashlib.sha256(json.dumps(before, sort_keys=True).encode()).hexdigest()


class _Refused(Exception):
    """The text of a refusal."""


def _compactions(message: Json) -> list[Json]:
    content = message["content"] if isinstance(message["content"], list) else []
    return [block for block in content if block["type"] == "compaction"]


def _has_open_calls(messages: list[Json]) -> bool:
    last = messages[-1]
    return last["role"] == "assistant" and any(block["type"] == "tool_use" for block in last["content"])


def _error(message: str) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


@contextmanager
def signing_provider(seed: int) -> Iterator[SigningProvider]:
    """Such a provider, listening."""
    provider = SigningProvider(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = provider.answer(json.loads(body), self.headers.get("anthropic-beta", ""))
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}/v1/messages"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
