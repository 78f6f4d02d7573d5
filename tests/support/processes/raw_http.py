"""HTTP/1.1 as bytes: a server on loopback that sends what a test gives it, and a caller that changes nothing.

Libraries write headers and addresses in their own way; here each byte is the test's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import NamedTuple, TypeAlias

from anyio.from_thread import start_blocking_portal

Headers: TypeAlias = list[tuple[bytes, bytes]]


class HttpMessage(NamedTuple):
    """A request or an answer. `start` is its first line; names of headers are in lower case."""

    start: bytes
    headers: Headers
    body: bytes

    @property
    def target(self) -> bytes:
        """The address in the first line of a request."""
        return self.start.split(b" ")[1]

    @property
    def status(self) -> int:
        """The status in the first line of an answer."""
        return int(self.start.split(b" ")[1])

    def values(self, name: bytes) -> list[bytes]:
        """The values of a header, in order."""
        return [value for known, value in self.headers if known == name]


Answering: TypeAlias = Callable[[HttpMessage, asyncio.StreamWriter], Awaitable[object]]


async def read_message(reader: asyncio.StreamReader) -> HttpMessage:
    """The next message of a connection.

    Raises:
        asyncio.IncompleteReadError: the connection ended before the message did.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
    start, *lines = head.split(b"\r\n")
    headers = [(name.lower(), value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in lines)]
    found = dict(headers)
    if b"chunked" in found.get(b"transfer-encoding", b""):
        return HttpMessage(start, headers, b"".join([chunk async for chunk in _chunks(reader)]))
    return HttpMessage(start, headers, await reader.readexactly(int(found.get(b"content-length", 0))))


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    size = 1
    while size:
        size = int(await reader.readuntil(b"\r\n"), 16)
        yield (await reader.readexactly(size + 2))[:-2]


def written(start: bytes, headers: Headers, body: bytes) -> bytes:
    """A message with the length of its body."""
    given = [*headers, (b"Content-Length", b"%d" % len(body))]
    return b"\r\n".join([start, *(name + b": " + value for name, value in given), b"", body])


def written_in_chunks(start: bytes, headers: Headers, chunks: Iterable[bytes]) -> list[bytes]:
    """A message whose body comes in chunks; the last of these parts ends it."""
    given = [*headers, (b"Transfer-Encoding", b"chunked")]
    head = b"\r\n".join([start, *(name + b": " + value for name, value in given), b"", b""])
    return [head, *(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks), b"0\r\n\r\n"]


@contextmanager
def raw_provider(answer: Answering) -> Iterator[str]:
    """The address of a server that calls `answer` with each request, on connections that are kept."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while not writer.is_closing():
                    await answer(await read_message(reader), writer)
        finally:
            writer.close()

    @asynccontextmanager
    async def listening() -> AsyncIterator[str]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(listening()) as url:
        yield url


@asynccontextmanager
async def raw_connection(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection of a caller to the server at this address."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
