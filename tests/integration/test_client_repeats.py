"""The commands' client: what may be done already is repeated with its key, and anything else is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from foldline.client import Client, Refused

UNKNOWN, IN_FLIGHT = (503, "outcome-unknown"), (409, "idempotency-in-flight")
DONE = (201, "")


@contextmanager
def answering(*answers: tuple[int, str]) -> Iterator[tuple[str, list[str | None]]]:
    """The address of a service that gives these answers, and the idempotency keys that it got."""
    left, keys = list(answers), list[str | None]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            keys.append(self.headers["Idempotency-Key"])
            self.rfile.read(int(self.headers["Content-Length"]))
            status, name = left.pop(0)
            body = json.dumps({"type": f"/problems/{name}"} if name else {"id": "s"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", keys
        server.shutdown()
        thread.join()


def test_what_may_be_done_is_repeated_with_its_key() -> None:
    with answering(UNKNOWN, IN_FLIGHT, DONE, DONE) as (url, keys), Client(url) as client:
        assert client.create_session({}) == {"id": "s"}
        client.create_session({})
    first, *others, last = keys
    assert first
    assert set(others) == {first}
    assert last != first


@pytest.mark.parametrize("answer", [(503, "unavailable"), (409, "conflict"), (422, "invalid-request")])
def test_what_was_refused_is_not_repeated(answer: tuple[int, str]) -> None:
    with answering(answer) as (url, keys), Client(url) as client:
        with pytest.raises(Refused, match=answer[1]):
            client.create_session({})
        assert len(keys) == 1
