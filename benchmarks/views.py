"""The rows of views through HTTP: against an endpoint that serves the same bytes, and against one another."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.harness import Row, seconds
from benchmarks.http import MODEL, new_session
from benchmarks.processes import serving
from foldline.replay.embedded import embedded_service

# A view of some 380,000 bytes: calls with their results, as agents have them.
CALLS: Final = 200
RESULT: Final = "line of code = value\n" * 85
REQUESTS: Final = 24
NO_HEADERS: Final[Mapping[str, str]] = {}


def rows(folder: Path) -> Iterator[Row]:
    """All rows, on one service with an SQLite file."""
    with (
        embedded_service() as service,
        serving(folder, "benchmarks.bare_endpoint", f"sqlite:///{folder}/views.db") as bare,
    ):
        session = _Session(service)
        size = len(session.view()[1])
        for connections in (1, 8):
            yield Row(
                name=f"view of {size // 1000} KB, {connections} at once",
                ours="GET /sessions/{id}/context",
                theirs="endpoint that serves as many bytes",
                time_ours=partial(_read_all, session.context, connections),
                time_theirs=partial(_read_all, f"{bare}/bytes/{size}", connections),
                at_most=1 / 0.5,
            )
        yield Row(
            name="view after one append",
            ours="the next view",
            theirs="the first view of such a session",
            time_ours=session.time_next_view,
            time_theirs=lambda: _Session(service).time_view(),
            at_most=0.3,
        )
        yield Row(
            name="view in another format, after one append",
            ours="GET /sessions/{id}/context?format=anthropic",
            theirs="endpoint that serves as many bytes",
            time_ours=partial(session.time_next_view, "?format=anthropic"),
            time_theirs=partial(_read_all, f"{bare}/bytes/{size}", 1),
            at_most=1 / 0.15,
        )
        tag = session.view()[0]["etag"]
        yield Row(
            name="view that was not modified",
            ours="304 by If-None-Match",
            theirs="the same view in full",
            time_ours=partial(_read_all, session.context, 1, {"If-None-Match": tag}),
            time_theirs=partial(_read_all, session.context, 1),
            at_most=0.15,
        )


class _Session:
    """A session with a view of many calls and results, and one connection for its requests, as agents have one."""

    def __init__(self, service: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(service).netloc)
        self._append = new_session(service, MODEL)
        self.context = self._append.replace("/messages", "/context")
        self._numbers = count(CALLS)
        self._say([{"role": "user", "content": "Read them all."}, *(said for n in range(CALLS) for said in _call(n))])

    def _say(self, messages: list[dict[str, Any]]) -> None:
        body = json.dumps({"messages": messages, "format": "openai"})
        headers = {"Content-Type": "application/json"}
        _answer(self._connection, "POST", urlsplit(self._append), body, headers)

    def view(self, query: str = "") -> tuple[Mapping[str, str], bytes]:
        """The headers and the body of its view."""
        return _answer(self._connection, "GET", urlsplit(self.context + query))

    def time_view(self, query: str = "") -> float:
        return seconds(lambda: self.view(query))

    def time_next_view(self, query: str = "") -> float:
        """The seconds of a view right after an append."""
        self._say(_call(next(self._numbers)))
        return self.time_view(query)


def _call(number: int) -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": json.dumps({"path": f"src/part_{number}.py"})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": RESULT},
    ]


def _read_all(url: str, connections: int, headers: Mapping[str, str] = NO_HEADERS) -> float:
    """The seconds of one of many requests, with so many connections at once."""

    def read(_number: int) -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc)
        for _ in range(REQUESTS // connections):
            _answer(connection, "GET", parts, headers=headers)
        connection.close()

    with ThreadPoolExecutor(connections) as pool:
        return seconds(lambda: list(pool.map(read, range(connections)))) / REQUESTS


def request(
    method: str, url: str, body: str | None = None, headers: Mapping[str, str] = NO_HEADERS
) -> tuple[Mapping[str, str], bytes]:
    """The headers and the body of an answer, on a connection of its own.

    Raises:
        RuntimeError: the service refused the request.
    """
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    try:
        return _answer(connection, method, parts, body, headers)
    finally:
        connection.close()


def _answer(
    connection: http.client.HTTPConnection,
    method: str,
    parts: Any,
    body: str | None = None,
    headers: Mapping[str, str] = NO_HEADERS,
) -> tuple[Mapping[str, str], bytes]:
    connection.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, body, dict(headers))
    response = connection.getresponse()
    answer = response.read()
    if response.status >= http.client.BAD_REQUEST:
        raise RuntimeError(answer.decode())
    return dict(response.headers), answer
