"""A provider on loopback, over real HTTP, that signs its reasoning and refuses it after another prefix.

It speaks the part of Anthropic's Messages API that an agent needs. As that API's page on preserved thinking describes,
a signature is bound to model, system prompt, tools and all messages before; whoever changes one of these is refused.
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


@dataclass
class SigningProvider:
    """Answers with signed reasoning, and now and then with calls of a tool; `refusals` counts what it refused."""

    seed: int
    url: str = ""
    refusals: int = 0
    reasoning_taken: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def answer(self, request: Json) -> tuple[int, Json]:
        """Status and body of the answer to a request."""
        for number, message in enumerate(request["messages"]):
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] != "thinking":
                    continue
                if block["signature"] != _signature(request, number):
                    self.refusals += 1
                    return 400, _error(REFUSAL.format(number=number))
                self.reasoning_taken += 1
        return 200, self._message(request)

    def _message(self, request: Json) -> Json:
        number = next(self._numbers)
        signature = _signature(request, len(request["messages"]))
        thinking = {"type": "thinking", "thinking": f"thought {number} " * 20, "signature": signature}
        calls = [
            {"type": "tool_use", "id": f"toolu_{self.seed}_{number}_{index}", "name": "look", "input": {"at": number}}
            for index in range(self._random.choice((0, 1, 1, 2)))
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


def _error(message: str) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


@contextmanager
def signing_provider(seed: int) -> Iterator[SigningProvider]:
    """Such a provider, listening."""
    provider = SigningProvider(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = provider.answer(json.loads(body))
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
