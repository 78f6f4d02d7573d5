"""A service with enough of the HTTP contract for a replay, which breaks promises as its script says.

It never compacts: every view is the whole history. What it gets right is what a replay must not complain about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.tokens.counter import count_messages, count_system
from foldline.engine.wire import dumps, loads

JsonDict = dict[str, Any]
Fault = Callable[[JsonDict], None]


@dataclass(slots=True)
class Script:
    """The faults: `spoil` changes each fitted view, `forget` the entries; the other fields are values of responses."""

    limit: int = 100_000
    spoil: Fault = lambda _view: None
    forget: Callable[[list[JsonDict]], None] = lambda _entries: None
    refusal: tuple[int, str] | None = None
    pending_tokens: int = 0
    jobs: list[JsonDict] = field(default_factory=list)
    compactions: list[JsonDict] = field(default_factory=list)
    open_calls: list[str] | None = None


@dataclass(slots=True)
class _Session:
    system: str | None = None
    format: str = "openai"
    messages: list[JsonDict] = field(default_factory=list)
    version: int = 0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.sessions: dict[str, _Session] = {}


@contextmanager
def faulty_service(script: Script) -> Iterator[str]:
    """The address of a service on loopback that follows the script."""
    with _Server(script) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    # The names that http.server calls.
    def do_POST(self) -> None:
        body = loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/sessions":
            session_id = f"s{len(self.server.sessions)}"
            self.server.sessions[session_id] = _Session(body.get("system"))
            self._answer(201, {"id": session_id, "version": 0})
        elif self.path.endswith("/messages"):
            self._answer(201, _append(self.server.script, self._session(), body))
        else:
            self._answer(200, {"job": None, "result": {"compacted": False}})

    def do_GET(self) -> None:
        url, script = urlsplit(self.path), self.server.script
        what = url.path.split("/")[-1]
        if what == "context":
            self._context(parse_qs(url.query))
        elif what == "stats":
            self._answer(200, {"pending_tokens": script.pending_tokens})
        elif what == "entries":
            kept = [{"kind": "message", "message": message} for message in self._session().messages]
            script.forget(kept)
            self._answer(200, {"items": kept, "next_cursor": None})
        else:
            self._answer(200, {"items": script.jobs if what == "jobs" else script.compactions, "next_cursor": None})

    def _context(self, query: dict[str, list[str]]) -> None:
        script, is_fitted = self.server.script, "fit" not in query
        if script.refusal and is_fitted:
            status, name = script.refusal
            self._answer(status, {"type": f"https://example.invalid/problems/{name}", "detail": "as scripted"})
            return
        view = _view(script, self._session(), query["format"][0])
        if is_fitted:
            script.spoil(view)
        self._answer(200, view)

    def _session(self) -> _Session:
        return self.server.sessions[self.path.split("/")[2]]

    def _answer(self, status: int, value: JsonDict) -> None:
        content = dumps(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests' output is pytest's."""


def _append(script: Script, session: _Session, body: JsonDict) -> JsonDict:
    session.format = body["format"]
    session.messages.extend(body["messages"])
    session.version += 1
    open_calls = _open_calls(session.messages) if script.open_calls is None else script.open_calls
    budget = _budget(script, session, FORMATS[session.format].parse(session.messages))
    return {"version": session.version, "budget": budget, "open_calls": open_calls, "compaction": None}


def _view(script: Script, session: _Session, format_name: str) -> JsonDict:
    canonical = FORMATS[session.format].parse(session.messages)
    rendered = FORMATS[format_name].render(canonical, session.system)
    return {
        "messages": rendered.messages,
        "system": rendered.system,
        "version": session.version,
        "budget": _budget(script, session, canonical),
    }


def _budget(script: Script, session: _Session, canonical: list[Message]) -> JsonDict:
    return {"limit": script.limit, "used": count_messages(canonical) + count_system(session.system), "fits": True}


def _open_calls(messages: list[JsonDict]) -> list[str]:
    """The calls of the last assistant message that nothing after it answers; OpenAI messages only."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting = [call_id for call_id in waiting if call_id != message["tool_call_id"]]
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or []]
    return waiting
