"""A provider on loopback, over real HTTP, for agents at work: it speaks three APIs, and drives the agent's tool.

It checks each request against the provider's rules and its own window, and refuses what is too long.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any, NamedTuple

from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.tokens.counter import count_messages, count_system, count_tools

Json = dict[str, Any]
MODELS = b'{"object":"list","data":[{"id":"scripted","object":"model"}]}'
REFUSALS = {
    "anthropic": "prompt is too long: {used} tokens > {window} maximum",
    "openai": "This model's maximum context length is {window} tokens, but your messages resulted in {used} tokens.",
}


@dataclass
class AgentProvider:
    """`requests` are the bodies that came, `raw` their bytes, `headers` theirs, and `invalid` the rules they broke.

    `said` are the answers as they are without streaming, by their bytes. `work` is for an agent with tools of its own.
    What is longer than its `window` is refused with `refusal_status`, or in a stream that began well if it
    `refuses_late`; it counts `scale` tokens for one of Foldline's.
    `before_answer` is called with the number of each answer. Where a tool named recall is offered, the next answers ask
    it for `recalls`. What it `rejects` gets this status and text. While there is a `failure`, a status and a body, that
    is the answer to everything.
    """

    window: int = 1 << 40
    scale: float = 1.0
    work: Iterator[Work] | None = None
    before_answer: Callable[[int], None] = lambda _: None
    recalls: list[str] = field(default_factory=list)
    rejects: Callable[[Json], tuple[int, str] | None] = lambda _: None
    failure: tuple[int, bytes] | None = None
    url: str = ""
    refusal_status: int = 400
    refuses_late: bool = False
    refusals: int = 0
    calls: int = 0
    largest: int = 0
    newest: int = 0
    requests: list[Json] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    said: dict[bytes, Json] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answer(self, path: str, raw: bytes) -> tuple[int, bytes, str]:
        """Status, body and media type of the answer to a request."""
        self.raw.append(raw)
        try:
            body = json.loads(raw)
            body[APIS[path].messages][0]["role"]
        except (ValueError, LookupError, TypeError):
            return 422, b'{"error": {"message": "no request of this API"}}', "application/json"
        self.requests.append(body)
        rejection = self.rejects(body)
        if rejection is not None:
            status, text = rejection
            return status, json.dumps({"error": {"message": text}}).encode(), "application/json"
        api = APIS[path]
        messages = body[api.messages]
        self.invalid += check(api.format, messages, body.get("system") or body.get("instructions"))
        parsed = FORMATS[api.format].parse(messages)
        system = _system(body.get("system") or body.get("instructions"))
        used = count_messages(parsed) + count_system(system) + count_tools(body.get("tools") or ())
        used = round(used * self.scale)
        self.largest, self.newest = max(self.largest, used), used
        if used > self.window:
            self.refusals += 1
            if self.refuses_late and body.get("stream"):
                return 200, late_refusal(path, api.error(self.window, used)), "text/event-stream"
            return self.refusal_status, json.dumps(api.error(self.window, used)).encode(), "application/json"
        number = next(self._numbers)
        self.before_answer(number)
        message = api.message(*self._next(number, body.get("tools"), used))
        is_stream = body.get("stream")
        sent = api.stream(message) if is_stream else json.dumps(message).encode()
        self.said[sent] = message
        return 200, sent, "text/event-stream" if is_stream else "application/json"

    def _next(self, number: int, tools: list[Json] | None, used: int) -> tuple[int, int, str, Call | None]:
        """Some work, while there is any; an agent of a test that names no tools has one."""
        if self.recalls and "recall" in names_of(tools or []):
            query = {"query": self.recalls.pop(0)}
            return number, used, "I look that up.", Call(f"toolu_{number:06d}", "recall", query)
        if self.work is None:
            call = Call(f"toolu_{number}", "read", {"path": f"part_{number}.py"})
            return number, used, f"I read part {number}.", call
        work = next(self.work, None) if tools else None
        made = None if work is None else call_of(tools or [], number, work)
        self.calls += made is not None
        return number, used, "All parts are read." if made is None else f"I read part {number}.", made


def late_refusal(path: str, error: Json) -> bytes:
    """The stream of a provider that began to answer before it counted."""
    if not path.endswith("/responses"):
        return b": is counting\n\nevent: error\ndata: %s\n\n" % json.dumps(error).encode()
    begun = {"id": "resp_1", "status": "in_progress", "output": []}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.failed", "response": {**begun, "status": "failed", **error}},
    ]
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events
    )


def _system(system: Any) -> str | None:
    return "\n".join(block["text"] for block in system) if isinstance(system, list) else system


class Work(NamedTuple):
    """A file to read, or to write this text to."""

    file: str
    text: str | None = None


class Call(NamedTuple):
    """A call of the agent's tool."""

    id: str
    name: str
    arguments: Json


# Tools that read a file, that write one, and that run a command, by the names that agents give them.
READERS = ("Read", "read", "read_file")
WRITERS = ("Write", "write", "write_file")
SHELLS = ("exec_command", "shell_command", "shell", "Bash", "bash")
PATHS = ("file_path", "filePath", "path")
COMMANDS = ("cmd", "command")


def names_of(tools: list[Json]) -> list[str]:
    return [str(tool.get("name") or tool.get("function", {}).get("name")) for tool in tools]


def call_of(tools: list[Json], number: int, work: Work) -> Call | None:
    """A call that does the work with one of the agent's own tools; None if it has none that can."""
    by_name = dict(zip(names_of(tools), tools, strict=True))
    own = READERS if work.text is None else WRITERS
    for name in (*own, *SHELLS):
        tool = by_name.get(name, {})
        schema = tool.get("input_schema") or tool.get("parameters") or tool.get("function", {}).get("parameters", {})
        known = schema.get("properties", {})
        wanted, value = (PATHS, work.file) if name in own else (COMMANDS, _command(work))
        key = next((key for key in wanted if key in known), None)
        if key is not None:
            given = {"description": "Handle a part", "content": work.text}
            said = {key: given[key] for key in given if key in schema.get("required", ())}
            return Call(f"toolu_{number:06d}", name, {key: value, **said})
    return None


def _command(work: Work) -> str:
    return f"cat {work.file}" if work.text is None else f"printf %s {shlex.quote(work.text)} > {work.file}"


class Anthropic:
    format = "anthropic"
    messages = "messages"

    @staticmethod
    def message(number: int, used: int, text: str, call: Call | None) -> Json:
        calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}] if call else []
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [{"type": "text", "text": text}, *calls],
            "stop_reason": "tool_use" if call else "end_turn",
            "usage": {"input_tokens": used, "output_tokens": 20},
        }

    @staticmethod
    def error(window: int, used: int) -> Json:
        said = REFUSALS["anthropic"].format(window=window, used=used)
        return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}

    @staticmethod
    def stream(message: Json) -> bytes:
        events: list[Json] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
        for index, block in enumerate(message["content"]):
            delta = {"type": "text_delta", "text": block["text"]} if block["type"] == "text" else _json_delta(block)
            start = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            events += [
                {"type": "content_block_start", "index": index, "content_block": start},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        events += [
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 20}},
            {"type": "message_stop"},
        ]
        return _named_events(events)


def _named_events(events: list[Json]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _json_delta(block: Json) -> Json:
    return {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


class Chat:
    format = "openai"
    messages = "messages"

    @staticmethod
    def message(number: int, used: int, text: str, call: Call | None) -> Json:
        said: Json = {"role": "assistant", "content": text}
        if call:
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            said["tool_calls"] = [{"id": call.id, "type": "function", "function": function}]
        choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if call else "stop"}
        usage = {"prompt_tokens": used, "completion_tokens": 20, "total_tokens": used + 20}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [choice],
            "usage": usage,
        }

    @staticmethod
    def error(window: int, used: int) -> Json:
        said = REFUSALS["openai"].format(window=window, used=used)
        return {"error": {"message": said, "type": "invalid_request_error", "code": "context_length_exceeded"}}

    @staticmethod
    def stream(message: Json) -> bytes:
        (choice,) = message["choices"]
        calls = [{"index": at, **call} for at, call in enumerate(choice["message"].get("tool_calls", ()))]
        delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
        parts: list[Json] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
            {"choices": [], "usage": message["usage"]},
        ]
        chunks = ({**message, "object": "chat.completion.chunk", "usage": None, **part} for part in parts)
        return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n").encode()


class Responses:
    format = "responses"
    messages = "input"
    error = Chat.error

    @staticmethod
    def message(number: int, used: int, text: str, call: Call | None) -> Json:
        said = {"type": "output_text", "text": text, "annotations": []}
        item: Json = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [said]}
        if call:
            made = {"call_id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
            item = {"type": "function_call", "id": f"fc_{number}", **made}
        usage = {
            "input_tokens": used,
            "output_tokens": 20,
            "total_tokens": used + 20,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        output = [{**item, "status": "completed"}]
        found = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "scripted"}
        return {**found, "status": "completed", "output": output, "usage": usage}

    @staticmethod
    def stream(message: Json) -> bytes:
        events: list[Json] = [
            {"type": "response.created", "response": {**message, "status": "in_progress", "output": []}}
        ]
        for index, item in enumerate(message["output"]):
            events += [
                {"type": "response.output_item.added", "output_index": index, "item": item},
                {"type": "response.output_item.done", "output_index": index, "item": item},
            ]
        return _named_events([*events, {"type": "response.completed", "response": message}])


APIS: dict[str, Any] = {"/v1/messages": Anthropic, "/v1/chat/completions": Chat, "/v1/responses": Responses}


@contextmanager
def agent_provider(window: int = 1 << 40, work: Iterator[Work] | None = None) -> Iterator[AgentProvider]:
    """A provider that runs in this process for the block."""
    provider = AgentProvider(window, work=work)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._note()
            path = self.path.partition("?")[0]
            known = (200, b'{"input_tokens": 7}', "application/json")
            self._send(*(provider.answer(path, raw) if path in APIS and provider.failure is None else known))

        def do_GET(self) -> None:
            self._note()
            self._send(200, MODELS, "application/json")

        def _note(self) -> None:
            provider.headers.append({name.lower(): value for name, value in self.headers.items()} | {"path": self.path})

        def _send(self, status: int, body: bytes, media_type: str) -> None:
            if provider.failure is not None:
                status, body = provider.failure
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
