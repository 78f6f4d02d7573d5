"""A slow model: it answers every chat completion after the same pause, however many are running.

`python -m benchmarks.slow_llm --delay SECONDS` serves on a free port of the loopback interface. GET /arrivals/N is the
time.monotonic() at which the first byte of chat request N came, the first being 0; it is answered once that has come.
GET /arrivals/after/SECONDS is that of the first request after this time.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from foldline.engine.wire import dumps, loads

TEXT: Final = "## Asked\n- It goes on and on."
USAGE: Final = {"prompt_tokens": 500, "completion_tokens": 10}


class SlowLLM:
    """The server's state: the times at which requests arrived."""

    def __init__(self, delay_seconds: float) -> None:
        self._delay_seconds = delay_seconds
        self._arrivals: list[float] = []
        self._arrived = asyncio.Condition()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer the requests of a connection until the client leaves."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._serve_one(reader, writer)
        writer.close()

    async def _serve_one(self, reader: StreamReader, writer: StreamWriter) -> None:
        first = await reader.readexactly(1)
        now = monotonic()
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        asked = re.match(r"GET /arrivals/(after/)?([\d.]+) ", head)
        writer.write(await (self._arrival(*asked.groups()) if asked else self._completion(now, head, reader)))
        await writer.drain()

    async def _arrival(self, after: str | None, value: str) -> bytes:
        async with self._arrived:
            found = await self._arrived.wait_for(lambda: self._from(value) if after is None else self._after(value))
        return _answer("application/json", dumps(found[0]))

    def _from(self, number: str) -> list[float]:
        return self._arrivals[int(number) :]

    def _after(self, moment: str) -> list[float]:
        return [arrived for arrived in self._arrivals if arrived > float(moment)]

    async def _completion(self, now: float, head: str, reader: StreamReader) -> bytes:
        async with self._arrived:
            self._arrivals.append(now)
            self._arrived.notify_all()
        length = re.search(r"(?i)content-length: (\d+)", head)
        body = loads(await reader.readexactly(int(length[1]))) if length else {}
        await asyncio.sleep(self._delay_seconds)
        return _streamed() if body.get("stream") else _answer("application/json", dumps(_chunk("message")))


def _chunk(said: str) -> dict[str, Any]:
    choice = {"index": 0, said: {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    return {"model": "slow", "choices": [choice], "usage": USAGE}


def _streamed() -> bytes:
    return _answer("text/event-stream", b"data: " + dumps(_chunk("delta")) + b"\n\ndata: [DONE]\n\n")


def _answer(content_type: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _serve(delay_seconds: float) -> None:
    server = await asyncio.start_server(SlowLLM(delay_seconds).serve, "127.0.0.1", 0)
    sys.stdout.write(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible endpoint that takes its time.")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds before each answer")
    asyncio.run(_serve(parser.parse_args().delay))


if __name__ == "__main__":
    main()
