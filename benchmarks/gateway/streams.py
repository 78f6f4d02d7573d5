"""The row of open streams: the resident memory of a proxy while many answers are on their way at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.gateway import servers
from benchmarks.gateway.agent import HEADERS, PATH, Unexpected
from benchmarks.gateway.conversations import bodies
from benchmarks.gateway.provider import END, TOGETHER
from benchmarks.gateway.servers import Proxy
from benchmarks.harness import Row, Together
from benchmarks.memory import megabytes

STREAMS: Final = 300
TOKENS: Final = 8_000
# Requests that wait for their first byte at the same time; then their streams stay open.
BEGINNING: Final = 8
LOOK_SECONDS: Final = 0.05
ROUNDS: Final = 3

# A request that went through without its session has no such header.
OURS: Final = b"\r\nx-foldline-session: "

Start: TypeAlias = Callable[[], AbstractContextManager[Proxy]]


def rows(folder: Path) -> Iterator[Together]:
    """The row; each side is a process of its own."""
    with servers.providing(folder) as provider:
        row = Row(
            name=f"memory with {STREAMS} open streams",
            ours="foldline serve, the most while they are open",
            theirs="bare streaming proxy, httpx and Starlette",
            time_ours=partial(_most_bytes, partial(servers.gateway, folder, provider), OURS),
            time_theirs=partial(_most_bytes, partial(servers.bare, folder, provider), END),
            ours_at_most=300e6,
            written=megabytes,
        )
        yield Together((row,), rounds=ROUNDS, is_warmed_up=False)


def _most_bytes(start: Start, sign: bytes) -> float:
    """The most bytes that a new process takes, from the first stream until all have ended.

    Raises:
        Unexpected: one of the streams was refused, broke off, or has not this sign of what the process did.
    """
    with start() as proxy:
        return asyncio.run(_with_streams(proxy, sign))


async def _with_streams(proxy: Proxy, sign: bytes) -> float:
    beginning = asyncio.Semaphore(BEGINNING)
    streams = [asyncio.create_task(_stream(proxy.port, sign, number, beginning)) for number in range(STREAMS)]
    most = 0.0
    while not all(stream.done() for stream in streams):
        most = max(most, proxy.resident)
        await asyncio.wait(streams, timeout=LOOK_SECONDS)
    await asyncio.gather(*streams)
    return most


async def _stream(port: int, sign: bytes, seed: int, beginning: asyncio.Semaphore) -> None:
    """One request, and its answer to the end."""
    async with beginning:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        (body,) = bodies(TOKENS, 1, seed)
        fields = {**HEADERS, "Host": f"127.0.0.1:{port}", "Content-Length": len(body), TOGETHER: STREAMS}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"POST {PATH} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
    answer += await reader.read()
    writer.close()
    if not answer.startswith(b"HTTP/1.1 200") or END not in answer or sign not in answer.lower():
        raise Unexpected(answer[:500])
