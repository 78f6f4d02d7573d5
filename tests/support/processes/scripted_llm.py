"""A scripted OpenAI-compatible chat endpoint on loopback, over real HTTP.

Each request is answered by the next of the scripted replies, or else by the default, which makes a summary from what
was sent. Run it alone with `python -m tests.support.processes.scripted_llm --port 0 --delay 5`; it prints its base URL.
"""

from __future__ import annotations

import argparse
import re
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Self

from foldline.engine.tokens.counter import count_text
from foldline.engine.wire import dumps, loads

JsonDict = dict[str, Any]
PIECES = 4
WORDS = 60
_QUOTED = re.compile(r"<(conversation|earlier-summary)[^>]{0,40}>\n(.*?)\n</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `text` None makes a summary from the request; `status` other than 200 sends `text` as an error."""

    text: str | None = None
    delay_seconds: float = 0.0
    status: int = 200
    retry_after: str | None = None
    finish_reason: str | None = "stop"
    calls_a_tool: bool = False
    drops: bool = False
    drops_midway: bool = False
    ignores_stream: bool = False
    piece_delay_seconds: float = 0.0
    # Between the answer's last event and its end.
    end_delay_seconds: float = 0.0
    closes: bool = False
    raw: bytes | None = None


SUMMARY = Reply()
TRUNCATED = Reply(finish_reason="length")
EMPTY = Reply(text="")
BLANK = Reply(text=" \n\t ")
TOOL_CALL = Reply(text="", finish_reason="tool_calls", calls_a_tool=True)
TOO_LONG = Reply(text="word " * 20_000)
DROPPED = Reply(drops=True)
DROPPED_MIDWAY = Reply(drops_midway=True)
SERVER_ERROR = Reply(text="it broke", status=500)
NOT_JSON = Reply(raw=b"<html>gateway</html>")
OVERFLOW = Reply(
    text="This model's maximum context length is 8192 tokens; reduce the length of the messages.", status=400
)
NO_STREAMING = Reply(text="Unsupported parameter: stream_options", status=400)
NO_MAX_TOKENS = Reply(
    text="Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    status=400,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most tokens of a prompt and the answer asked for together, of an answer, and of a prompt alone.

    Nothing says why a longer prompt is refused.
    """

    window: int | None = None
    answer: int | None = None
    prompt: int | None = None


MUTE = "Bad request"
# As OpenAI and vLLM say it.
TOO_LARGE = (
    "max_tokens is too large: {asked}. This model supports at most {most} completion tokens, whereas you provided "
    "{asked}."
)
NO_ROOM = (
    "This model's maximum context length is {most} tokens. However, you requested {whole} tokens ({prompt} in the "
    "messages, {asked} in the completion). Please reduce the length of the messages or completion."
)


def rate_limited(retry_after: str | None = "0") -> Reply:
    """A 429 that says when to come back."""
    return Reply(text="slow down", status=429, retry_after=retry_after)


def slow(seconds: float) -> Reply:
    """A summary after `seconds` of silence."""
    return Reply(delay_seconds=seconds)


@dataclass(slots=True)
class Recorded:
    """A request as it arrived."""

    path: str
    authorization: str | None
    traceparent: str | None = None
    body: JsonDict = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """All messages' texts."""
        return "\n".join(message["content"] for message in self.body["messages"])


class ScriptedLLM:
    """The server as a context: `with ScriptedLLM(TRUNCATED, SUMMARY) as llm: ... llm.base_url ... llm.requests`.

    It refuses what exceeds its `limits`.
    """

    def __init__(
        self,
        *replies: Reply,
        default: Reply = SUMMARY,
        port: int = 0,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.at_once = 0
        self.most_at_once = 0
        self.refused = 0
        self.requests: list[Recorded] = []
        self.answered = 0
        self.disconnects = 0
        self.connections = 0
        self.stopping = Event()
        self._replies = deque(replies)
        self.default = default
        self._lock = Lock()
        self._server = _Server(self, port)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """The address, with /v1."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def script(self, *replies: Reply) -> None:
        """Adds replies for the next requests."""
        with self._lock:
            self._replies.extend(replies)

    def take(self, request: Recorded) -> Reply:
        """Records the request and picks its reply."""
        with self._lock:
            self.requests.append(request)
            return self._replies.popleft() if self._replies else self.default

    @contextmanager
    def working(self) -> Iterator[None]:
        """A block that is counted as work at the same time as others."""
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self._lock:
                self.at_once -= 1

    def refusal(self, body: JsonDict) -> str | None:
        """What a model with this window, or this limit of answers, says to a request that exceeds it."""
        asked = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        prompt = sum(count_text(str(message["content"])) for message in body.get("messages", ()))
        limits = self.limits
        if limits.prompt is not None and prompt > limits.prompt:
            return MUTE
        if limits.answer is not None and asked > limits.answer:
            return TOO_LARGE.format(asked=asked, most=limits.answer)
        if limits.window is not None and prompt + asked > limits.window:
            return NO_ROOM.format(most=limits.window, whole=prompt + asked, prompt=prompt, asked=asked)
        return None

    def note_answer(self) -> None:
        """An answer was sent."""
        with self._lock:
            self.answered += 1

    def note_connection(self) -> None:
        """A client connected."""
        with self._lock:
            self.connections += 1

    def note_disconnect(self) -> None:
        """The client went away before its answer was complete."""
        with self._lock:
            self.disconnects += 1

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
    request_queue_size = 128

    def __init__(self, llm: ScriptedLLM, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.llm = llm


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.llm.note_connection()

    def log_message(self, *_: object) -> None:
        """Nothing: tests read what was recorded."""

    def do_POST(self) -> None:
        body = loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        llm = self.server.llm
        reply = llm.take(Recorded(self.path, self.headers.get("authorization"), self.headers.get("traceparent"), body))
        self.close_connection = reply.closes or reply.drops or reply.drops_midway
        if refusal := llm.refusal(body):
            llm.refused += 1
            reply = Reply(text=refusal, status=400)
        with llm.working():
            if self._waits(reply.delay_seconds):
                try:
                    self._answer(reply, body)
                    llm.note_answer()
                except ConnectionError:
                    llm.note_disconnect()

    def _waits(self, seconds: float) -> bool:
        """Whether the client is still there after `seconds`."""
        if seconds <= 0:
            return True
        self.connection.settimeout(0.02)
        ticks = max(1, round(seconds / 0.02))
        for _ in range(ticks):
            if self.server.llm.stopping.is_set():
                self.close_connection = True
                return False
            with suppress(TimeoutError):
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    self.server.llm.note_disconnect()
                    self.close_connection = True
                    return False
        self.connection.settimeout(None)
        return True

    def _answer(self, reply: Reply, body: JsonDict) -> None:
        if reply.drops:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif reply.raw is not None:
            self._send(200, "application/json", reply.raw)
        elif reply.status != 200:
            error = {"error": {"message": reply.text, "type": "scripted", "code": reply.status}}
            self._send(reply.status, "application/json", dumps(error), reply.retry_after)
        elif self.path != "/v1/chat/completions":
            self._send(404, "application/json", b"{}")
        elif body.get("stream") and not reply.ignores_stream:
            self._stream(reply, body)
        else:
            self._send(200, "application/json", dumps(_completion(reply, body)))

    def _send(self, status: int, content_type: str, data: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Reply, body: JsonDict) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(_chunks(reply, body)):
            if reply.drops_midway and number == 2:
                return
            self._event(dumps(chunk))
            if not self._waits(reply.piece_delay_seconds):
                return
        self._event(b"[DONE]")
        if self._waits(reply.end_delay_seconds):
            self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: bytes) -> None:
        event = b"data: " + data + b"\n\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))


def summary_of(body: JsonDict) -> str:
    """The first words of what was to be summarized, under one heading, within the tokens that were allowed."""
    sent = str(body["messages"][-1]["content"])
    found = _QUOTED.findall(sent)
    said = next((text for tag, text in found if tag == "conversation"), " ".join(text for _, text in found)) or sent
    words = re.sub(r"<[^<>]{0,200}>|^#.*$", " ", said, flags=re.MULTILINE).split()[:WORDS]
    limit = int(body.get("max_tokens") or body.get("max_completion_tokens") or 200)
    text = f"## Asked\n- {' '.join(words)}"
    while len(words) > 1 and count_text(text) > limit:
        words = words[: len(words) // 2]
        text = f"## Asked\n- {' '.join(words)}"
    return text


def _text(reply: Reply, body: JsonDict) -> str:
    return summary_of(body) if reply.text is None else reply.text


def _usage(reply: Reply, body: JsonDict) -> dict[str, int]:
    prompt = sum(count_text(str(message["content"])) for message in body["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": count_text(_text(reply, body))}


def _calls(reply: Reply) -> list[JsonDict]:
    function = {"name": "read", "arguments": '{"path":"a"}'}
    return [{"index": 0, "id": "call_1", "type": "function", "function": function}] if reply.calls_a_tool else []


def _completion(reply: Reply, body: JsonDict) -> JsonDict:
    message: JsonDict = {"role": "assistant", "content": _text(reply, body)}
    if calls := _calls(reply):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {"object": "chat.completion", "model": "scripted", "choices": [choice], "usage": _usage(reply, body)}


def _chunks(reply: Reply, body: JsonDict) -> Iterator[JsonDict]:
    text = _text(reply, body)
    size = -(-len(text) // PIECES) or 1
    deltas: Iterable[JsonDict] = (
        {"role": "assistant", "content": ""},
        *({"content": text[start : start + size]} for start in range(0, len(text), size)),
        *({"tool_calls": [call]} for call in _calls(reply)),
    )
    for delta in deltas:
        yield _chunk({"index": 0, "delta": delta, "finish_reason": None})
    yield _chunk({"index": 0, "delta": {}, "finish_reason": reply.finish_reason})
    yield {"object": "chat.completion.chunk", "model": "scripted", "choices": [], "usage": _usage(reply, body)}


def _chunk(choice: JsonDict) -> JsonDict:
    return {"object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}


def main() -> None:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible endpoint on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with ScriptedLLM(default=replace(SUMMARY, delay_seconds=options.delay), port=options.port) as llm:
        sys.stdout.write(f"{llm.base_url}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            Event().wait()


if __name__ == "__main__":
    main()
