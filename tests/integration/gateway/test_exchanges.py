"""A thousand exchanges with much that is odd go through the gateway, both ways, byte for byte."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final, NamedTuple

import anyio
import pytest

from tests.integration.gateway.test_gateway import gateway_to
from tests.support.gateway_exchanges import NAME, Exchange, conversations
from tests.support.processes.agent_provider import AgentProvider
from tests.support.processes.raw_http import Headers, HttpMessage, raw_connection, raw_provider, read_message

CONVERSATIONS, TURNS, AT_ONCE = 100, 10, 8
# Of a connection, of a message's length, or the server's own.
NOT_PASSED: Final = {b"host", b"content-length", b"transfer-encoding", b"connection", b"date", b"server"}
READABLE: Final = {
    b"gzip, deflate, br, zstd": b"gzip, deflate",
    b"gzip;q=1.0, identity": b"gzip;q=1.0, identity",
    b"identity": b"identity",
    b"br": b"identity",
}


class Passed(NamedTuple):
    """An exchange, the request that the provider got, and the answer that the caller got."""

    exchange: Exchange
    request: HttpMessage
    answer: HttpMessage


def all_passed() -> list[Passed]:
    """What went through one service, on a few connections at the same time."""
    talks = [*conversations(7, CONVERSATIONS, TURNS)]
    exchanges = {exchange.name: exchange for talk in talks for exchange in talk}
    requests: dict[bytes, HttpMessage] = {}
    answers: dict[bytes, HttpMessage] = {}

    async def answer(request: HttpMessage, writer: asyncio.StreamWriter) -> None:
        (name,) = request.values(NAME)
        requests[name] = request
        for part in exchanges[name].parts:
            writer.write(part)
            await writer.drain()
        if exchanges[name].is_closed:
            writer.close()

    async def call(gateway: str, talks: list[list[Exchange]]) -> None:
        async with raw_connection(gateway) as (reader, writer):
            for exchange in (exchange for talk in talks for exchange in talk):
                writer.write(exchange.request)
                answers[exchange.name] = await read_message(reader)

    async def call_all(gateway: str) -> None:
        async with anyio.create_task_group() as group:
            for lane in range(AT_ONCE):
                group.start_soon(call, gateway, talks[lane::AT_ONCE])

    with raw_provider(answer) as url, gateway_to(AgentProvider(url=url), gateway_context_window=1_000_000) as gateway:
        anyio.run(call_all, gateway)
    return [Passed(exchange, requests[name], answers[name]) for name, exchange in exchanges.items()]


def passing_on(headers: Headers) -> Headers:
    return [header for header in headers if header[0] not in NOT_PASSED and not header[0].startswith(b"x-foldline")]


@pytest.mark.timeout(120)
def test_a_thousand_exchanges_go_through_both_ways_byte_for_byte() -> None:
    passed = all_passed()
    assert len(passed) == CONVERSATIONS * TURNS
    sessions: defaultdict[int | None, set[tuple[bytes, ...]]] = defaultdict(set)
    for exchange, request, answer in passed:
        assert (request.target, request.body) == (without_prefix(exchange.target), exchange.body)
        # The answer is read if there is a session that it belongs to.
        encodings = {} if exchange.conversation is None else READABLE
        expected = [(name, encodings.get(value, value)) for name, value in passing_on(exchange.headers)]
        assert passing_on(request.headers) == expected
        assert (answer.status, answer.body) == (exchange.status, exchange.answer)
        assert passing_on(answer.headers) == exchange.answer_headers
        assert answer.values(b"x-foldline-tokens") == answer.values(b"x-foldline-view-tokens")
        sessions[exchange.conversation].add(tuple(answer.values(b"x-foldline-session")))
    # What was not understood, or is off, has no session; each other conversation has one of its own.
    assert sessions.pop(None) == {()}
    assert all(len(found) == 1 for found in sessions.values())
    assert len(set().union(*sessions.values()) - {()}) == CONVERSATIONS


def without_prefix(target: bytes) -> bytes:
    return target.removeprefix(b"/anthropic").removeprefix(b"/openai")
