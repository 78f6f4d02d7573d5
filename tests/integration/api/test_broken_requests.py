"""What a connection gets that sends no request, or one that breaks HTTP: a 400 and its end, and no memory is filled."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import repeat
from time import sleep

import pytest

from tests.support.processes.api import Api, user

# Of one request, before its headers end.
UNREAD_BYTES_MAX = 64 * 1024
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /sessions HTTP/1.1\r\nHost: localhost\r\n"


def answers_to(api: Api, pieces: Iterable[bytes]) -> list[bytes]:
    """The status of each answer until the service closes the connection."""
    received = b""
    with socket.create_connection((api.client.base_url.host, api.client.base_url.port or 80), timeout=20) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            while piece := connection.recv(65536):
                received += piece
        except ConnectionError:
            # The service closed the connection while more was being sent; what it answered may be lost with that.
            pass
    return re.findall(rb"HTTP/1\.1 (\d+) ", received)


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x00\xa5 not HTTP",
        b"hello\r\n\r\n",
        b"BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        GET + b"Name with spaces: x\r\n\r\n",
        GET + b"X: a\x00b\r\n\r\n",
        "GET /sessions/é HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
        b"GET /sessions HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nX: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        GET + b"Host: localhost\r\n\r\n",
        GET + b"host: elsewhere.example\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        GET + b"X: folded\r\n header\r\n\r\n",
        GET + b"X: y\nY: z\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        POST + b"Content-Length: many\r\n\r\n{}",
        POST + b"Content-Length: -1\r\n\r\n{}",
        POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        POST + b"Transfer-Encoding: chunked\r\n\r\nmany\r\n{}\r\n",
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n2;x\n{}\r\n0\r\n\r\n",
        b"POST /sessions HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_request_is_answered_with_400_and_the_end(api: Api, request_: bytes) -> None:
    assert b"400" in answers_to(api, [request_])


@pytest.mark.parametrize("request_", [GET + b"Connection: close\r\n\r\n", b"GET /healthz HTTP/1.0\r\n\r\n"])
def test_a_request_names_one_host_but_an_old_client_may_name_none(api: Api, request_: bytes) -> None:
    assert answers_to(api, [request_]) == [b"200"]


def test_a_second_request_on_a_connection_names_its_host_too(api: Api) -> None:
    assert answers_to(api, [GET + b"\r\n", b"GET /healthz HTTP/1.1\r\n\r\n"])[-1:] == [b"400"]


@pytest.mark.parametrize(
    "start", [GET + b"X: ", POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: "], ids=["head", "trailer"]
)
def test_headers_without_an_end_are_cut_off(api: Api, start: bytes) -> None:
    rest = repeat(b"x" * 8192, 64 * UNREAD_BYTES_MAX // 8192)
    assert answers_to(api, [start, *rest]) in ([b"400"], [])


def test_long_headers_with_an_end_are_read(api: Api) -> None:
    session = api.session()
    for length in (10_000, UNREAD_BYTES_MAX - 1000):
        api.get(session, x_long="x" * length)


def test_a_request_that_is_half_sent_leaves_the_others_alone(api: Api) -> None:
    address = (api.client.base_url.host, api.client.base_url.port or 80)
    with socket.create_connection(address) as head, socket.create_connection(address) as body:
        head.sendall(GET)
        body.sendall(POST + b"Content-Length: 20\r\n\r\n{")
        session = api.session()
    assert api.get(session)["version"] == 1


@pytest.mark.parametrize(
    ("before", "sent"),
    [(b"", b""), (b"", b"GET /heal"), (b"", GET + b"X: y"), (GET + b"\r\n", b"GET /heal")],
    ids=["nothing", "half a line", "half of the headers", "half a line after a request"],
)
def test_a_connection_on_which_no_headers_come_is_closed(
    api: Api, monkeypatch: pytest.MonkeyPatch, before: bytes, sent: bytes
) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.HEAD_SECONDS", 0.3)
    assert answers_to(api, [before, sent]) == [b"200"] * bool(before)


@pytest.mark.parametrize(("rest", "answers"), [(b"\r\n", [b"202", b"200", b"200"]), (b"", [b"202", b"200"])])
def test_headers_behind_a_request_that_waits_have_to_come_once_it_is_answered(
    api: Api, monkeypatch: pytest.MonkeyPatch, rest: bytes, answers: list[bytes]
) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.HEAD_SECONDS", 0.3)
    session = api.session()
    for number in range(4):
        api.say(session, user(f"Note {number}. " * 200))

    def pieces() -> Iterator[bytes]:
        # Nobody works on jobs here: the first one waits for a second.
        yield f"POST {session}/compact HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=1\r\n\r\n".encode()
        yield GET + b"\r\n" + GET + b"Connection: close\r\n"
        sleep(1.1)
        yield rest

    assert answers_to(api, pieces()) == answers


@pytest.mark.parametrize("sent", [b"", b"{"])
def test_the_rest_of_a_body_that_was_answered_already_has_to_come(
    api: Api, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.HEAD_SECONDS", 0.3)

    def pieces() -> Iterator[bytes]:
        # Nobody reads the body of a path that is not there.
        yield b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n"
        sleep(0.1)
        yield sent

    assert answers_to(api, pieces()) == [b"404"]


def test_the_rest_of_such_a_body_may_come_later(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.HEAD_SECONDS", 0.3)

    def pieces() -> Iterator[bytes]:
        yield b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
        sleep(0.1)
        yield b"{}"
        sleep(0.5)
        yield GET + b"Connection: close\r\n\r\n"

    assert answers_to(api, pieces()) == [b"404", b"200"]


def test_an_answer_of_which_nothing_is_read_ends(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.READ_SECONDS", 0.5)
    session = api.session(context_window=10_000_000)
    for _ in range(3):
        api.say(session, user("x" * 8_000_000))
    sent = len(api.client.get(f"{session}/context").content)
    assert sent > 24_000_000
    with socket.create_connection((api.client.base_url.host, api.client.base_url.port or 80), timeout=20) as connection:
        connection.sendall(f"GET {session}/context HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        sleep(2)
        received = 0
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 20):
                received += len(piece)
    assert received < sent


def test_a_body_may_take_longer_than_headers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline_api.http.protocol.HEAD_SECONDS", 0.1)

    def pieces() -> Iterator[bytes]:
        yield POST + b"Connection: close\r\nContent-Length: 2\r\n\r\n{"
        sleep(0.3)
        yield b"}"

    assert answers_to(api, pieces()) == [b"422"]
