"""TLS before a server that speaks none: a proxy on loopback, with a certificate of an authority of our own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from urllib.parse import urlsplit

import trustme

CHUNK_BYTES = 65_536
START_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where it listens, and the authority to trust."""

    port: int
    authority: Path


@contextmanager
def tls_proxy(url: str, folder: Path) -> Iterator[Proxy]:
    """A proxy to the server at this address, which ends with the block."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    started: SimpleQueue[tuple[int, Callable[[], object]]] = SimpleQueue()

    async def serve() -> None:
        parts, stopping = urlsplit(url), asyncio.Event()
        relay = partial(_relay, parts.hostname or "", parts.port or 0)
        async with await asyncio.start_server(relay, "127.0.0.1", ssl=context) as server:
            stop = partial(asyncio.get_running_loop().call_soon_threadsafe, stopping.set)
            started.put((server.sockets[0].getsockname()[1], stop))
            await stopping.wait()

    # At its end, `asyncio.run` cancels what is still passed on.
    thread = Thread(target=lambda: asyncio.run(serve()), name="tls-proxy")
    thread.start()
    port, stop = started.get(timeout=START_SECONDS)
    try:
        yield Proxy(port, folder / "authority.pem")
    finally:
        stop()
        thread.join()


async def _relay(host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    behind_reader, behind_writer = await asyncio.open_connection(host, port)
    try:
        await asyncio.gather(_pass_on(reader, behind_writer), _pass_on(behind_reader, writer))
    finally:
        for one in (writer, behind_writer):
            one.transport.abort()


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(CHUNK_BYTES):
            target.write(data)
            await target.drain()
    target.close()
