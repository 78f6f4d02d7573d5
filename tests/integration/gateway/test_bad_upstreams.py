"""Providers that are silent, send garbage, break off or never end, and callers who leave or send too much."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import httpx
import pytest

from tests.integration.gateway.test_gateway import gateway_to
from tests.support.eventually import eventually
from tests.support.processes.agent_provider import AgentProvider
from tests.support.processes.http import client
from tests.support.processes.raw_http import (
    HttpMessage,
    raw_connection,
    raw_provider,
    read_message,
    written,
    written_in_chunks,
)

LIMIT: Final = 1 << 20
EVENT: Final = b'event: ping\ndata: {"type": "ping"}\n\n'
# An answer that is larger than what is kept of one.
LARGE: Final = b'{"content": [{"type": "text", "text": "' + b"x" * (9 << 20) + b'"}]}'
SHAPES: Final = {"/v1/messages": {"type", "error"}, "/v1/chat/completions": {"error"}, "/v1/responses": {"error"}}
SAID: Final = [{"role": "user", "content": "Hello."}]


@dataclass
class BadProvider:
    """A provider that does what a header of the request asks for; `ended` has those whose caller left."""

    url: str = ""
    requests: int = 0
    ended: list[str] = field(default_factory=list)

    async def answer(self, request: HttpMessage, writer: asyncio.StreamWriter) -> None:
        """Without an answer the provider is silent."""
        self.requests += 1
        (asked,) = request.values(b"x-mode")
        mode = asked.decode()
        head, *chunks = written_in_chunks(b"HTTP/1.1 200 OK", [(b"Content-Type", b"text/event-stream")], [EVENT] * 2)
        match mode:
            case "garbage":
                writer.write(b"\x00 is no HTTP\r\n\r\n")
                writer.close()
            case "breaks":
                writer.write(head + chunks[0])
                writer.close()
            case "falls silent":
                writer.write(head + chunks[0])
            case "large":
                writer.write(written(b"HTTP/1.1 200 OK", [(b"Content-Type", b"application/json")], LARGE))
            case "never ends":
                await self._send_on(mode, head, chunks[0], writer)
            case "refuses for ever":
                refused, *_ = written_in_chunks(b"HTTP/1.1 400 Bad Request", [(b"Content-Type", b"text/plain")], [])
                await self._send_on(mode, refused, b"%x\r\n%s\r\n" % (1 << 16, b"x" * (1 << 16)), writer)

    async def _send_on(self, mode: str, head: bytes, chunk: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        try:
            while True:
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            self.ended.append(mode)


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[BadProvider, str]]:
    provider = BadProvider()
    with (
        raw_provider(provider.answer) as url,
        gateway_to(AgentProvider(url=url), gateway_timeout_seconds=0.5, max_body_bytes=LIMIT) as address,
    ):
        yield provider, address


@pytest.fixture
def provider(shared: tuple[BadProvider, str]) -> BadProvider:
    return shared[0]


@pytest.fixture
def gateway(shared: tuple[BadProvider, str]) -> str:
    return shared[1]


def body_of(path: str, **fields: Any) -> bytes:
    messages = "input" if path == "/v1/responses" else "messages"
    return json.dumps({"model": "nobody/nothing", "max_tokens": 9, messages: SAID, **fields}).encode()


@pytest.mark.parametrize("path", SHAPES)
@pytest.mark.parametrize("mode", ["silent", "garbage"])
def test_a_provider_without_an_answer_is_an_error_in_its_own_shape(gateway: str, mode: str, path: str) -> None:
    with client(gateway) as connected:
        answer = connected.post(path, content=body_of(path), headers={"X-Mode": mode})
    assert (answer.status_code, answer.json().keys()) == (502, SHAPES[path])
    assert answer.json()["error"]["type"] == "api_error"


@pytest.mark.parametrize("mode", ["breaks", "falls silent"])
def test_an_answer_that_breaks_off_does_so_for_the_caller_too(gateway: str, mode: str) -> None:
    heard: list[bytes] = []
    with client(gateway) as connected:
        request = connected.build_request(
            "POST", "/v1/messages", content=body_of("/v1/messages", stream=True), headers={"X-Mode": mode}
        )
        answer = connected.send(request, stream=True)
        with pytest.raises(httpx.RemoteProtocolError):
            heard.extend(answer.iter_raw())
    assert (answer.status_code, b"".join(heard)) == (200, EVENT)


def test_a_caller_who_leaves_an_answer_that_never_ends_ends_it(gateway: str, provider: BadProvider) -> None:
    body, headers = body_of("/v1/messages", stream=True), {"X-Mode": "never ends"}
    with (
        client(gateway) as connected,
        connected.stream("POST", "/v1/messages", content=body, headers=headers) as answer,
    ):
        assert next(answer.iter_raw()).startswith(EVENT)
    eventually(lambda: "never ends" in provider.ended)


def test_a_refusal_that_never_ends_is_not_read_for_ever(gateway: str, provider: BadProvider) -> None:
    with client(gateway) as connected:
        answer = connected.post("/v1/messages", content=body_of("/v1/messages"), headers={"X-Mode": "refuses for ever"})
    assert (answer.status_code, "has more than" in answer.text) == (502, True)
    eventually(lambda: "refuses for ever" in provider.ended)


def test_an_answer_too_large_to_keep_is_passed_on_whole(gateway: str) -> None:
    with client(gateway) as connected:
        answer = connected.post("/v1/messages", content=body_of("/v1/messages"), headers={"X-Mode": "large"})
    assert answer.content == LARGE


@pytest.mark.parametrize("path", [*SHAPES, "/anthropic/v1/other", "/openai/v1/other"])
def test_a_body_too_large_is_refused_in_the_shape_of_the_provider(
    gateway: str, provider: BadProvider, path: str
) -> None:
    before = provider.requests
    with client(gateway) as connected:
        for content in (b"x" * (3 * LIMIT), iter([b"x" * LIMIT] * 3)):
            answer = connected.post(path, content=content, headers={"X-Mode": "garbage"})
            assert (answer.status_code, answer.json()["error"]["type"]) == (413, "request_too_large")
            assert answer.json().keys() == SHAPES.get(path, {"error"} | ({"type"} if "anthropic" in path else set()))
    assert provider.requests == before


def test_a_body_of_100_megabytes_is_refused_before_it_comes(gateway: str) -> None:
    head = b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 104857600\r\n\r\n{"

    async def announce() -> HttpMessage:
        async with raw_connection(gateway) as (reader, writer):
            writer.write(head)
            return await read_message(reader)

    assert anyio.run(announce).status == 413


def test_a_caller_who_leaves_within_its_request_asks_nothing(gateway: str, provider: BadProvider) -> None:
    before = provider.requests

    async def leave() -> None:
        async with raw_connection(gateway) as (_, writer):
            whole = written(
                b"POST /v1/messages HTTP/1.1", [(b"Host", b"127.0.0.1"), (b"X-Mode", b"garbage")], b"x" * 99
            )
            writer.write(whole[:-9])
            await writer.drain()

    anyio.run(leave)
    with client(gateway) as connected:
        connected.post("/v1/messages", content=b"{", headers={"X-Mode": "garbage"})
    assert provider.requests == before + 1
