"""Models on loopback that speak each provider's wire format, streamed as the providers document it, and misbehave."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import MappingProxyType
from typing import Any, Self

from foldline.engine.wire import dumps, loads
from tests.support.processes.scripted_llm import summary_of

JsonDict = dict[str, Any]
PIECES = 3


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One answer. `text` None makes a story of what was asked; `finish` is how it ends, in no provider's words.

    `raw` is a whole body in the place of the provider's; it hangs before its first byte, or in the `middle`, or is cut
    there, or ends there with an `error`.
    """

    text: str | None = None
    finish: str = "stop"
    calls_a_tool: bool = False
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    raw: bytes | None = None
    hangs: bool = False
    middle: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, in no provider's words."""

    system: str
    user: str
    max_tokens: int
    key: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider is asked, streams an answer, and reports an error."""

    asked: Callable[[str, JsonDict, Mapping[str, str]], Asked]
    events: Callable[[str, Behaviour], Iterator[JsonDict]]
    error: Callable[[int, str], JsonDict]
    ends: bytes = b""


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def _chat_asked(path: str, body: JsonDict, headers: Mapping[str, str]) -> Asked:
    assert path == "/v1/chat/completions"
    assert body["stream"]
    system, user = (message["content"] for message in body["messages"])
    return Asked(system, user, body["max_tokens"], headers["authorization"].removeprefix("Bearer "))


def _chat_events(text: str, behaviour: Behaviour) -> Iterator[JsonDict]:
    finish = {"filter": "content_filter", "declined": "stop", "tool": "tool_calls"}.get(
        behaviour.finish, behaviour.finish
    )
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    said = [] if behaviour.finish == "declined" else _pieces(text)
    deltas: list[JsonDict] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in said)]
    if behaviour.finish == "declined":
        deltas.append({"refusal": text})
    if behaviour.calls_a_tool:
        function = {"name": "read", "arguments": "{}"}
        deltas.append({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    for delta in deltas:
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield {**frame, "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}


def _openai_error(status: int, text: str) -> JsonDict:
    return {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": str(status)}}


def _responses_asked(path: str, body: JsonDict, headers: Mapping[str, str]) -> Asked:
    assert path == "/v1/responses"
    assert body["stream"]
    assert body["store"] is False
    (message,) = body["input"]
    key = headers["authorization"].removeprefix("Bearer ")
    return Asked(body["instructions"], message["content"], body["max_output_tokens"], key)


def _responses_events(text: str, behaviour: Behaviour) -> Iterator[JsonDict]:
    response: JsonDict = {"id": "resp_1", "object": "response", "model": "scripted", "error": None, "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "usage": None}}
    kind = "refusal" if behaviour.finish == "declined" else "output_text"
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    for piece in _pieces(text):
        yield {"type": f"response.{kind}.delta", "item_id": "msg_1", "output_index": 0, "delta": piece}
    content = {"type": kind, "refusal": text} if kind == "refusal" else {"type": kind, "text": text, "annotations": []}
    output: list[JsonDict] = [{**item, "status": "completed", "content": [content]}]
    if behaviour.calls_a_tool:
        output.append({"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"})
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(behaviour.finish)
    state = "incomplete" if reason else "completed"
    ended = {
        **response,
        "status": state,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
    }
    yield {"type": f"response.{state}", "response": ended}


def _anthropic_asked(path: str, body: JsonDict, headers: Mapping[str, str]) -> Asked:
    assert path == "/v1/messages"
    assert body["stream"]
    assert headers["anthropic-version"]
    (message,) = body["messages"]
    return Asked(body["system"], message["content"], body["max_tokens"], headers["x-api-key"])


def _anthropic_events(text: str, behaviour: Behaviour) -> Iterator[JsonDict]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    usage = {"input_tokens": 11, "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "ping"}
    for piece in _pieces(text):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    if behaviour.calls_a_tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
        yield {"type": "content_block_start", "index": 1, "content_block": block}
        yield {"type": "content_block_stop", "index": 1}
    reasons = {
        "stop": "end_turn",
        "length": "max_tokens",
        "filter": "refusal",
        "declined": "refusal",
        "tool": "tool_use",
    }
    delta = {"stop_reason": reasons[behaviour.finish], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def _anthropic_error(status: int, text: str) -> JsonDict:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "invalid_request_error"), "message": text}}


def _gemini_asked(path: str, body: JsonDict, headers: Mapping[str, str]) -> Asked:
    assert path == "/v1beta/models/any:streamGenerateContent?alt=sse"
    (system,), (content,) = body["systemInstruction"]["parts"], body["contents"]
    limit = body["generationConfig"]["maxOutputTokens"]
    return Asked(system["text"], content["parts"][0]["text"], limit, headers["x-goog-api-key"])


def _gemini_events(text: str, behaviour: Behaviour) -> Iterator[JsonDict]:
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    if behaviour.finish == "declined":
        yield {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage}
        return
    thought = {"text": "I think about it.", "thought": True}
    for parts in ([thought], *([{"text": piece}] for piece in _pieces(text))):
        yield {"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "scripted"}
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY", "tool": "STOP"}
    parts = [{"functionCall": {"name": "read", "args": {}}}] if behaviour.calls_a_tool else []
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": reasons[behaviour.finish], "index": 0}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _gemini_error(status: int, text: str) -> JsonDict:
    names = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    return {"error": {"code": status, "message": text, "status": names.get(status, "INVALID_ARGUMENT")}}


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "openai-chat": Dialect(_chat_asked, _chat_events, _openai_error, b"data: [DONE]\n\n"),
        "openai-responses": Dialect(_responses_asked, _responses_events, _openai_error),
        "anthropic": Dialect(_anthropic_asked, _anthropic_events, _anthropic_error),
        "gemini": Dialect(_gemini_asked, _gemini_events, _gemini_error),
    }
)


class ScriptedModel:
    """A model in one wire format as a context; each request gets the next of `behaviours`, or else the default."""

    def __init__(self, wire: str, *behaviours: Behaviour, default: Behaviour | None = None) -> None:
        self.dialect = DIALECTS[wire]
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self.stopping = Event()
        self._waiting = list(behaviours)
        self._default = default or Behaviour()
        self._lock = Lock()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._has_version = wire.startswith("openai")

    @property
    def base_url(self) -> str:
        """The address, with /v1 where the provider's has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{'/v1' if self._has_version else ''}"

    def take(self, asked: Asked) -> Behaviour:
        """Record a request; how to answer it."""
        with self._lock:
            self.asked.append(asked)
            return self._waiting.pop(0) if self._waiting else self._default

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Nothing: tests read what was recorded."""

    def do_POST(self) -> None:
        model = self.server.model
        body = loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            asked = model.dialect.asked(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            model.faults.append(repr(error))
            self.send_error(400, "no request of this provider")
            return
        with suppress(ConnectionError):
            self._answer(model, asked, model.take(asked))

    def _answer(self, model: ScriptedModel, asked: Asked, behaviour: Behaviour) -> None:
        if behaviour.hangs:
            model.stopping.wait(60)
        elif behaviour.status != 200:
            self._send(behaviour.status, model.dialect.error(behaviour.status, behaviour.error), behaviour.headers)
        elif behaviour.raw is not None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(behaviour.raw)
        else:
            self._stream(model, asked, behaviour)

    def _send(self, status: int, body: JsonDict, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(dumps(body))

    def _stream(self, model: ScriptedModel, asked: Asked, behaviour: Behaviour) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        made = summary_of({"messages": [{"content": asked.user}], "max_tokens": asked.max_tokens})
        text = made if behaviour.text is None else behaviour.text
        for number, event in enumerate(model.dialect.events(text, behaviour)):
            if number == 2 and behaviour.middle:
                self._break(model, behaviour)
                return
            name = f"event: {event['type']}\n".encode() if "type" in event else b""
            self.wfile.write(name + b"data: " + dumps(event) + b"\n\n")
            self.wfile.flush()
        self.wfile.write(model.dialect.ends)

    def _break(self, model: ScriptedModel, behaviour: Behaviour) -> None:
        if behaviour.middle == "hangs":
            model.stopping.wait(60)
        elif behaviour.middle == "error":
            self.wfile.write(b"data: " + dumps(model.dialect.error(500, behaviour.error)) + b"\n\n")
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
