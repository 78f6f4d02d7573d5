"""What goes on to a provider as it came, in its method and its headers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.integration.gateway.test_gateway import gateway_to
from tests.support.processes.agent_provider import AgentProvider
from tests.support.processes.http import client
from tests.support.processes.raw_http import HttpMessage, raw_provider, written


@dataclass
class Recorder:
    """A provider that answers each request with 204, and keeps it."""

    url: str = ""
    requests: list[HttpMessage] = field(default_factory=list)

    async def answer(self, request: HttpMessage, writer: asyncio.StreamWriter) -> None:
        self.requests.append(request)
        writer.write(written(b"HTTP/1.1 204 No Content", [(b"Allow", b"GET, OPTIONS")], b""))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    with raw_provider(recorder.answer) as url:
        recorder.url = url
        yield recorder


@pytest.mark.parametrize("path", ["/anthropic/v1/messages", "/openai/v1/responses", "/openai/v1/files", "/v1/models"])
def test_other_methods_go_through(recorder: Recorder, path: str) -> None:
    methods = ["GET", "HEAD", "OPTIONS", "DELETE"]
    with gateway_to(AgentProvider(url=recorder.url)) as address, client(address) as connected:
        answers = [connected.request(method, path) for method in methods]
    assert [(answer.status_code, answer.headers.get("allow")) for answer in answers] == [(204, "GET, OPTIONS")] * 4
    assert [request.start.split()[0].decode() for request in recorder.requests] == methods


@pytest.mark.parametrize(
    ("mode", "path", "headers", "encodings"),
    [
        ("on", "/v1/messages", {}, b"gzip"),
        ("shadow", "/v1/messages", {}, b"gzip"),
        ("off", "/v1/messages", {}, b"br, gzip, zstd"),
        ("on", "/v1/messages", {"X-Foldline": "off"}, b"br, gzip, zstd"),
        ("on", "/v1/messages/count_tokens", {}, b"br, gzip, zstd"),
        ("on", "/openai/v1/files", {}, b"br, gzip, zstd"),
    ],
)
def test_encodings_change_only_where_the_answer_is_read(
    recorder: Recorder, mode: str, path: str, headers: dict[str, str], encodings: bytes
) -> None:
    said = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
    with gateway_to(AgentProvider(url=recorder.url), gateway=mode) as address, client(address) as connected:
        connected.post(path, json=said, headers={"Accept-Encoding": "br, gzip, zstd", **headers})
    assert [request.values(b"accept-encoding") for request in recorder.requests] == [[encodings]]
