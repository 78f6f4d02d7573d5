"""Bodies in pieces: how they are joined, how one is sent to another process, and how slowly a large one is read."""

from __future__ import annotations

import asyncio
from multiprocessing import Pipe
from threading import Thread
from time import monotonic
from typing import Final

import pytest
from foldline_api.http.bounds.body_memory import PACED_BYTES_PER_SECOND, UNPACED_BYTES, BodyMemory
from foldline_api.http.bounds.pieces import Pieces, received
from foldline_api.http.known_keys import LOCAL, Caller
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from foldline.settings import Settings

PIECE: Final = 1 << 18
# Half a second longer than a body that is not paced.
SIZE: Final = UNPACED_BYTES + PACED_BYTES_PER_SECOND // 2


def in_pieces(*pieces: bytes) -> Pieces:
    found = Pieces()
    for piece in pieces:
        found.add(piece)
    return found


def test_a_body_is_its_pieces_in_order() -> None:
    assert (in_pieces(b"a", b"", b"bc").whole(), in_pieces(b"a", b"", b"bc").size) == (b"abc", 3)
    assert (Pieces().whole(), Pieces().size) == (b"", 0)


def test_another_process_gets_each_body_for_itself() -> None:
    there, here = Pipe(duplex=False)
    bodies = [in_pieces(b"x" * PIECE, b"y"), Pieces(), in_pieces(b"", b"z")]

    def send_all() -> None:
        for body in bodies:
            body.send(here)

    sending = Thread(target=send_all)
    sending.start()
    assert [received(there).whole() for _ in bodies] == [b"x" * PIECE + b"y", b"", b"z"]
    sending.join()


def test_a_process_that_is_gone_gets_nothing() -> None:
    there, here = Pipe(duplex=False)
    there.close()
    in_pieces(b"x" * PIECE).send(here)
    here.close()


def test_a_body_that_is_not_sent_to_its_end_is_none() -> None:
    there, here = Pipe(duplex=False)
    here.send_bytes(b"x")
    here.close()
    with pytest.raises(EOFError):
        received(there)


async def app(scope: Scope, receive: Receive, _send: Send) -> None:
    """Reads the body."""
    assert len(await Request(scope, receive).body()) == scope["size"]


async def seconds_of(*bodies: tuple[Caller, int]) -> float:
    """How long a service takes to read these bodies, which arrive at the same time, as fast as they are read."""
    memory = BodyMemory(app, Settings())

    async def read(caller: Caller, size: int) -> None:
        left = size

        async def receive() -> Message:
            nonlocal left
            piece = min(PIECE, left)
            left -= piece
            return {"type": "http.request", "body": bytes(piece), "more_body": left > 0}

        async def send(_message: Message) -> None:
            raise AssertionError

        await memory({"type": "http", "state": {"caller": caller}, "size": size}, receive, send)

    began = monotonic()
    await asyncio.gather(*(read(caller, size) for caller, size in bodies))
    return monotonic() - began


def key_of(tenant: str) -> Caller:
    return Caller(tenant=tenant, name="key")


def test_a_large_body_is_read_slowly_on_a_shared_service() -> None:
    # The pause after the last piece is left out.
    assert asyncio.run(seconds_of((key_of("a"), SIZE))) > 0.45
    assert asyncio.run(seconds_of((key_of("a"), UNPACED_BYTES))) < 0.4
    assert asyncio.run(seconds_of((Caller(tenant="default", name=LOCAL), SIZE))) < 0.4


def test_a_tenant_s_large_bodies_are_read_one_after_the_other() -> None:
    one_tenant = asyncio.run(seconds_of((key_of("a"), SIZE), (key_of("a"), SIZE)))
    two_tenants = asyncio.run(seconds_of((key_of("a"), SIZE), (key_of("b"), SIZE)))
    assert one_tenant > 0.9
    assert two_tenants < one_tenant
