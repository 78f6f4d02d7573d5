"""Bodies that arrive slowly or in great number, and requests that take long: the others go on as before."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from select import select
from threading import Event
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from foldline.engine.wire import dumps
from tests.support.eventually import eventually
from tests.support.processes.api import Api, Json, open_api, problem_of, user
from tests.support.processes.http import client

PAUSE_SECONDS = 1.0
LARGE = 200 * 1024
ANN, BOB = ({"Authorization": f"Bearer the-long-key-of-{name}"} for name in ("ann", "bob"))
# More than a request may have that is not large.
LARGER = 300 * 1024
NEW: Json = {"model": "openai/gpt-4o"}
LONG: Json = {
    "context_window": 16_000,
    "messages": [user(f"Never change the file src/part{n}.py.") for n in range(2000)],
    "target_tokens": 2000,
    "summarize": True,
}


SETTINGS: dict[str, Any] = {
    "api_keys": "ann:the-long-key-of-ann,bob:the-long-key-of-bob",
    "max_body_bytes": 2 * LARGE,
    "max_bodies_bytes": 4 * LARGE,
}


@pytest.fixture(scope="module")
def api(module_database: str) -> Iterator[Api]:
    with open_api(
        module_database, body_pause_seconds=PAUSE_SECONDS, body_bytes_per_second=1 << 20, **SETTINGS
    ) as opened:
        yield opened


@pytest.fixture
def patient(database: str) -> Iterator[Api]:
    """A service that waits for bodies."""
    with open_api(database, **SETTINGS) as opened:
        yield opened


@pytest.fixture
def roomy(database: str) -> Iterator[Api]:
    """A service that has memory for all bodies, and lets no large request wait."""
    with open_api(database, api_keys=SETTINGS["api_keys"], large_requests_waiting=0) as opened:
        yield opened


def sending(api: Api, size: int, path: str = "/compact", key: dict[str, str] = ANN) -> socket.socket:
    """A connection that has announced a body of so many bytes."""
    connection = socket.create_connection((api.client.base_url.host, api.client.base_url.port or 80), timeout=20)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n"
    connection.sendall(f"{head}Connection: close\r\nContent-Length: {size}\r\n\r\n".encode())
    return connection


def asking(api: Api, path: str, key: dict[str, str]) -> socket.socket:
    """A connection that has asked for something, and reads nothing."""
    connection = socket.create_connection((api.client.base_url.host, api.client.base_url.port or 80), timeout=20)
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n\r\n"
    connection.sendall(request.encode())
    return connection


def answer_of(connection: socket.socket) -> bytes:
    """All that the service sends until it closes the connection."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def is_answered(connection: socket.socket) -> bool:
    return bool(select([connection], [], [], 0)[0])


@pytest.mark.parametrize(
    ("path", "sent"),
    [("/compact", b""), ("/sessions", b"{"), ("/v1/messages", b" " * (LARGE // 2)), ("/openai/v1/files", b"{")],
)
def test_a_body_that_stops_arriving_ends_with_408(api: Api, path: str, sent: bytes) -> None:
    with sending(api, LARGE, path) as connection:
        began = monotonic()
        connection.sendall(sent)
        answer = answer_of(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()
    assert b"body arrives too slowly" in answer
    assert PAUSE_SECONDS * 0.9 < monotonic() - began < 10


def test_a_body_that_trickles_ends_with_408(api: Api) -> None:
    with sending(api, LARGE) as connection:
        while not is_answered(connection):
            connection.sendall(b" ")
            sleep(PAUSE_SECONDS / 12)
        answer = answer_of(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"type":"/problems/body-too-slow"' in answer


def test_a_body_that_takes_its_time_is_taken(api: Api) -> None:
    body = dumps({"context_window": 16_000, "messages": [user("Hello.")]}) + b" " * LARGE
    with sending(api, len(body)) as connection:
        for start in range(0, len(body), len(body) // 4):
            connection.sendall(body[start : start + len(body) // 4])
            sleep(PAUSE_SECONDS / 10)
        assert answer_of(connection).startswith(b"HTTP/1.1 200 ")


def test_bodies_that_wait_leave_room_for_small_ones_and_for_other_tenants(patient: Api) -> None:
    def answer(key: dict[str, str], size: int = LARGE) -> httpx.Response:
        # It is not JSON, but read to its end.
        return patient.client.post("/budget", content=b" " * size + b"x", headers=key)

    with sending(patient, LARGE) as first, sending(patient, LARGE) as second:
        for connection in (first, second):
            connection.sendall(b" " * (LARGE - 1))
        eventually(lambda: answer(ANN).status_code == 503)
        refused = answer(ANN)
        assert limit_of(refused) == ("bodies_bytes", 4 * LARGE, "FOLDLINE_MAX_BODIES_BYTES")
        assert (problem_of(refused)["name"], refused.headers["retry-after"]) == ("unavailable", "1")
        assert "connection" not in refused.headers
        assert [answer(ANN, 0).status_code, answer(BOB).status_code] == [400, 400]
    eventually(lambda: answer(ANN).status_code == 400)


def test_large_requests_beyond_those_that_may_wait_are_refused_at_once(roomy: Api) -> None:
    # A refusal takes half a second.
    longer = {**LONG, "messages": LONG["messages"] * 4}

    def compacted(key: dict[str, str]) -> tuple[int, float, str | None]:
        began = monotonic()
        answer = roomy.client.post("/compact", json=longer, headers=key)
        if answer.status_code == 503:
            assert problem_of(answer)["name"] == "unavailable"
            assert limit_of(answer) == ("large_requests_waiting", 0, "FOLDLINE_LARGE_REQUESTS_WAITING")
        return answer.status_code, monotonic() - began, answer.headers.get("retry-after")

    with ThreadPoolExecutor(8) as threads:
        of_ann = [threads.submit(compacted, ANN) for _ in range(6)]
        of_bob = threads.submit(compacted, BOB)
        anns = [found.result() for found in of_ann]
    refused = [seconds for status, seconds, _ in anns if status == 503]
    done = [seconds for status, seconds, _ in anns if status == 200]
    assert len(refused) + len(done) == 6
    assert min(len(refused), len(done)) >= 1
    assert min(refused) < min(done)
    assert {again for status, _, again in anns if status == 503} == {"1"}
    # Another tenant has a place of its own.
    assert of_bob.result()[0] == 200


def limit_of(refused: httpx.Response) -> tuple[Any, ...]:
    """The name, value and setting of the limit for which a request was refused."""
    problem = problem_of(refused)
    return problem["limit"], problem["value"], problem["setting"]


@contextmanager
def compacting_again_and_again(api: Api) -> Iterator[None]:
    """Ann has a large request under way, nearly all of the time."""
    ended = Event()

    def compact() -> None:
        with client(api.client.base_url) as caller:
            while not ended.is_set():
                caller.post("/compact", json=LONG, headers=ANN)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(compact)
        try:
            yield
        finally:
            ended.set()


@pytest.mark.parametrize("reading", ["context?fit=none", "context?fit=n%6Fne", "recall?q=rules"])
def test_what_may_read_a_whole_session_takes_a_place_too(roomy: Api, reading: str) -> None:
    session = roomy.client.post("/sessions", json={"model": "openai/gpt-4o"}, headers=ANN).headers["location"]

    def status(path: str) -> int:
        return roomy.client.get(f"{session}/{path}", headers=ANN).status_code

    assert status(reading) == 200
    with compacting_again_and_again(roomy):
        eventually(lambda: status(reading) == 503)
        assert {status("context") for _ in range(20)} == {200}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("{session}/messages", {"messages": [user("x" * LARGER)]}),
        ("{session}/messages?&", {"messages": [user("x" * LARGER)]}),
        ("{session}/compact", {"instructions": "x" * LARGER}),
        ("/sessions", {**NEW, "system": "x" * LARGER}),
    ],
)
def test_a_large_body_takes_a_place_whatever_it_is_sent_to(roomy: Api, path: str, body: Json) -> None:
    session = roomy.client.post("/sessions", json=NEW, headers=ANN).headers["location"]

    def limit() -> Any:
        return roomy.client.post(path.format(session=session), json=body, headers=ANN).json().get("limit")

    assert limit() is None
    with compacting_again_and_again(roomy):
        eventually(lambda: limit() == "large_requests_waiting")


def test_answers_that_nobody_reads_take_no_more_memory_than_a_tenant_may_have(database: str) -> None:
    megabytes = 1 << 20
    with open_api(
        database, api_keys=SETTINGS["api_keys"], max_body_bytes=8 * megabytes, max_bodies_bytes=16 * megabytes
    ) as api:
        long = {**NEW, "context_window": 100_000_000}
        paths = {}
        for key in (ANN, BOB):
            session = api.client.post("/sessions", json=long, headers=key).headers["location"]
            for _ in range(2):
                api.client.post(f"{session}/messages", json={"messages": [user("x" * 6 * megabytes)]}, headers=key)
            paths[key["Authorization"]] = f"{session}/context"

        def answer(key: dict[str, str]) -> httpx.Response:
            return api.client.get(paths[key["Authorization"]], headers=key)

        assert answer(ANN).status_code == 200
        with asking(api, paths[ANN["Authorization"]], ANN) as unread:
            eventually(lambda: is_answered(unread))
            eventually(lambda: answer(ANN).status_code == 503)
            assert limit_of(answer(ANN)) == ("bodies_bytes", 16 * megabytes, "FOLDLINE_MAX_BODIES_BYTES")
            assert answer(BOB).status_code == 200
        eventually(lambda: answer(ANN).status_code == 200)
