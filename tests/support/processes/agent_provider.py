"""A provider on loopback, over real HTTP, for agents at work: it speaks three APIs, and drives the agent's tool.

It checks each request against the provider's rules and its own window, and refuses what is too long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.tokens.counter import count_messages, count_system

Json = dict[str, Any]
MODELS = b'{"object":"list","data":[{"id":"scripted","object":"model"}]}'
REFUSALS = {
    "anthropic": "prompt is too long: {used} tokens > {window} maximum",
    "openai": "This model's maximum context length is {window} tokens, but your messages resulted in {used} tokens.",
}


@dataclass
class AgentProvider:
    """`requests` are the bodies that came, `raw` their bytes, `headers` theirs, and `invalid` the rules they broke."""

    window: int = 1 << 40
    url: str = ""
    refusals: int = 0
    requests: list[Json] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answer(self, path: str, raw: bytes) -> tuple[int, bytes, str]:
        """Status, body and media type of the answer to a request."""
        body = json.loads(raw)
        self.raw.append(raw)
        self.requests.append(body)
        api = APIS[path]
        messages = body[api.messages]
        self.invalid += check(api.format, messages, body.get("system") or body.get("instructions"))
        said = FORMATS[api.format].parse(messages)
        used = count_messages(said) + count_system(body.get("system") or body.get("instructions"))
        if used > self.window:
            self.refusals += 1
            return 400, json.dumps(api.error(self.window, used)).encode(), "application/json"
        message = api.message(next(self._numbers), used)
        if body.get("stream"):
            return 200, api.stream(message), "text/event-stream"
        return 200, json.dumps(message).encode(), "application/json"


def _call(number: int) -> tuple[str, Json]:
    return f"toolu_{number}", {"path": f"src/part_{number}.py"}


class Anthropic:
    format = "anthropic"
    messages = "messages"

    @staticmethod
    def message(number: int, used: int) -> Json:
        name, arguments = _call(number)
        call = {"type": "tool_use", "id": name, "name": "read", "input": arguments}
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [{"type": "text", "text": f"I read part {number}."}, call],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": used, "output_tokens": 20},
        }

    @staticmethod
    def error(window: int, used: int) -> Json:
        said = REFUSALS["anthropic"].format(window=window, used=used)
        return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}

    @staticmethod
    def stream(message: Json) -> bytes:
        events: list[Json] = [{"type": "message_start", "message": {**message, "content": []}}]
        for index, block in enumerate(message["content"]):
            delta = {"type": "text_delta", "text": block["text"]} if block["type"] == "text" else _json_delta(block)
            start = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            events += [
                {"type": "content_block_start", "index": index, "content_block": start},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _json_delta(block: Json) -> Json:
    return {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


class Chat:
    format = "openai"
    messages = "messages"

    @staticmethod
    def message(number: int, used: int) -> Json:
        name, arguments = _call(number)
        function = {"name": "read", "arguments": json.dumps(arguments)}
        call = {"id": name, "type": "function", "function": function}
        said = {"role": "assistant", "content": f"I read part {number}.", "tool_calls": [call]}
        choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": used, "completion_tokens": 20, "total_tokens": used + 20}
        return {"id": f"chatcmpl-{number}", "object": "chat.completion", "choices": [choice], "usage": usage}

    @staticmethod
    def error(window: int, used: int) -> Json:
        said = REFUSALS["openai"].format(window=window, used=used)
        return {"error": {"message": said, "type": "invalid_request_error", "code": "context_length_exceeded"}}

    @staticmethod
    def stream(message: Json) -> bytes:
        delta = message["choices"][0]["message"]
        chunks = [
            {"id": message["id"], "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]},
            {"id": message["id"], "object": "chat.completion.chunk", "choices": [], "usage": message["usage"]},
        ]
        return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n").encode()


class Responses:
    format = "responses"
    messages = "input"
    error = Chat.error

    @staticmethod
    def message(number: int, used: int) -> Json:
        name, arguments = _call(number)
        call = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": name,
            "name": "read",
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        usage = {"input_tokens": used, "output_tokens": 20, "total_tokens": used + 20}
        return {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [call], "usage": usage}

    @staticmethod
    def stream(message: Json) -> bytes:
        event = {"type": "response.completed", "response": message}
        return f"event: response.completed\ndata: {json.dumps(event)}\n\n".encode()


APIS: dict[str, Any] = {"/v1/messages": Anthropic, "/v1/chat/completions": Chat, "/v1/responses": Responses}


@contextmanager
def agent_provider(window: int = 1 << 40) -> Iterator[AgentProvider]:
    """A provider that runs in this process for the block."""
    provider = AgentProvider(window)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._note()
            path = self.path.partition("?")[0]
            known = (200, b'{"input_tokens": 7}', "application/json")
            self._send(*(provider.answer(path, raw) if path in APIS else known))

        def do_GET(self) -> None:
            self._note()
            self._send(200, MODELS, "application/json")

        def _note(self) -> None:
            provider.headers.append({name.lower(): value for name, value in self.headers.items()} | {"path": self.path})

        def _send(self, status: int, body: bytes, media_type: str) -> None:
            provider.sent.append(body)
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("request-id", f"req_{len(provider.sent)}")
            self.send_header("Set-Cookie", f"seen={len(provider.sent)}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, name="agent-provider")
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
