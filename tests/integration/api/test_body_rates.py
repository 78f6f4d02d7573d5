"""How slowly large bodies are read where other tenants wait."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from foldline_api.http.bounds.body_memory import FREE_BYTES, LARGE_BYTES_PER_SECOND, BodyMemory
from foldline_api.http.known_keys import LOCAL, Caller
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from foldline.settings import Settings

PIECE: Final = 1 << 18
# What takes half a second at that rate, and less than a tenth without it.
SIZE: Final = FREE_BYTES + LARGE_BYTES_PER_SECOND // 2
SLOW_SECONDS: Final = 0.45


async def app(scope: Scope, receive: Receive, _send: Send) -> None:
    """Reads the body."""
    assert len(await Request(scope, receive).body()) == scope["size"]


def seconds_of(*bodies: tuple[Caller, int], settings: Settings | None = None, piece_bytes: int = PIECE) -> float:
    """How long a service takes to read these bodies, which arrive at the same time, as fast as they are read."""
    memory = BodyMemory(app, settings or Settings())

    async def read(caller: Caller, size: int) -> None:
        left = size

        async def receive() -> Message:
            nonlocal left
            piece = min(piece_bytes, left)
            left -= piece
            await asyncio.sleep(0)
            return {"type": "http.request", "body": bytes(piece), "more_body": left > 0}

        async def send(_message: Message) -> None:
            raise AssertionError

        await memory({"type": "http", "path": "/sessions", "state": {"caller": caller}, "size": size}, receive, send)

    async def read_all() -> None:
        await asyncio.gather(*(read(caller, size) for caller, size in bodies))

    began = monotonic()
    asyncio.run(read_all())
    return monotonic() - began


def key_of(tenant: str) -> Caller:
    return Caller(tenant=tenant, name="key")


def test_a_large_body_is_read_slowly_on_a_shared_service() -> None:
    assert seconds_of((key_of("a"), SIZE)) > SLOW_SECONDS
    assert seconds_of((key_of("a"), SIZE), piece_bytes=1 << 12) > SLOW_SECONDS
    # At that rate, they would take a second.
    assert seconds_of(*[(key_of("a"), FREE_BYTES)] * 16) < SLOW_SECONDS
    assert seconds_of((Caller(tenant="default", name=LOCAL), SIZE)) < SLOW_SECONDS


def test_a_tenant_s_large_bodies_share_one_rate_and_all_of_them_two() -> None:
    assert seconds_of((key_of("a"), SIZE), (key_of("a"), SIZE)) > 2 * SLOW_SECONDS
    # The best of three: the machine may have other things to do.
    two = min(seconds_of((key_of("a"), SIZE), (key_of("b"), SIZE)) for _ in range(3))
    assert SLOW_SECONDS < two < 2 * SLOW_SECONDS
    three = seconds_of((key_of("a"), SIZE), (key_of("b"), SIZE), (key_of("c"), SIZE))
    assert three > 1.5 * SLOW_SECONDS


def test_no_client_is_too_slow_because_the_service_reads_slowly() -> None:
    # The two bodies take a second; each is due before that.
    impatient = Settings(body_pause_seconds=0.4, body_bytes_per_second=SIZE * 5 // 2)
    assert seconds_of((key_of("a"), SIZE), (key_of("a"), SIZE), settings=impatient) > 2 * SLOW_SECONDS
