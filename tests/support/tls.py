"""TLS before a server that speaks none: a proxy on loopback, with a certificate of an authority of our own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import trustme

CHUNK_BYTES = 65_536


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
    loop, is_ready, ports = asyncio.new_event_loop(), Event(), list[int]()

    async def serve() -> None:
        parts = urlsplit(url)
        relay = partial(_relay, parts.hostname or "", parts.port or 0)
        server = await asyncio.start_server(relay, "127.0.0.1", ssl=context)
        ports.append(server.sockets[0].getsockname()[1])
        is_ready.set()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = Thread(target=run, name="tls-proxy")
    thread.start()
    is_ready.wait(10)
    try:
        yield Proxy(ports[0], folder / "authority.pem")
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _relay(host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    behind_reader, behind_writer = await asyncio.open_connection(host, port)
    await asyncio.gather(_pass_on(reader, behind_writer), _pass_on(behind_reader, writer))


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(CHUNK_BYTES):
            target.write(data)
            await target.drain()
    target.close()
