"""How slowly large bodies are read where other tenants wait."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from foldline_api.http.bounds.body_memory import PACED_BYTES_PER_SECOND, UNPACED_BYTES, BodyMemory
from foldline_api.http.known_keys import LOCAL, Caller
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from foldline.settings import Settings

PIECE: Final = 1 << 18
# What takes half a second at that pace, and less than a tenth without it.
SIZE: Final = UNPACED_BYTES + PACED_BYTES_PER_SECOND // 2
PACED_SECONDS: Final = 0.45


async def app(scope: Scope, receive: Receive, _send: Send) -> None:
    """Reads the body."""
    assert len(await Request(scope, receive).body()) == scope["size"]


def seconds_of(*bodies: tuple[Caller, int], settings: Settings | None = None) -> float:
    """How long a service takes to read these bodies, which arrive at the same time, as fast as they are read."""
    memory = BodyMemory(app, settings or Settings())

    async def read(caller: Caller, size: int) -> None:
        left = size

        async def receive() -> Message:
            nonlocal left
            piece = min(PIECE, left)
            left -= piece
            await asyncio.sleep(0)
            return {"type": "http.request", "body": bytes(piece), "more_body": left > 0}

        async def send(_message: Message) -> None:
            raise AssertionError

        await memory({"type": "http", "state": {"caller": caller}, "size": size}, receive, send)

    async def read_all() -> None:
        await asyncio.gather(*(read(caller, size) for caller, size in bodies))

    began = monotonic()
    asyncio.run(read_all())
    return monotonic() - began


def key_of(tenant: str) -> Caller:
    return Caller(tenant=tenant, name="key")


def test_a_large_body_is_read_slowly_on_a_shared_service() -> None:
    assert seconds_of((key_of("a"), SIZE)) > PACED_SECONDS
    assert seconds_of((key_of("a"), UNPACED_BYTES)) < PACED_SECONDS
    assert seconds_of((Caller(tenant="default", name=LOCAL), SIZE)) < PACED_SECONDS


def test_a_tenant_s_large_bodies_share_one_pace_and_all_of_them_two() -> None:
    assert seconds_of((key_of("a"), SIZE), (key_of("a"), SIZE)) > 2 * PACED_SECONDS
    assert PACED_SECONDS < seconds_of((key_of("a"), SIZE), (key_of("b"), SIZE)) < 2 * PACED_SECONDS
    three = seconds_of((key_of("a"), SIZE), (key_of("b"), SIZE), (key_of("c"), SIZE))
    assert three > 1.5 * PACED_SECONDS


def test_no_client_is_too_slow_because_the_service_reads_slowly() -> None:
    # The two bodies take a second; each is due after half of that.
    impatient = Settings(body_pause_seconds=0.1, body_bytes_per_second=SIZE * 5 // 2)
    assert seconds_of((key_of("a"), SIZE), (key_of("a"), SIZE), settings=impatient) > 2 * PACED_SECONDS
