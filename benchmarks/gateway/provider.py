"""A provider that answers at once: it reads no JSON, and streams the same call to each request, as agents mostly get.

`python -m benchmarks.gateway.provider` serves on a free port of the loopback interface. A request with the header
`X-Bench-Together: N` gets an event now and then, and its end when N such requests are open. The header
`X-Bench-Received` of each answer is the number of bytes of the request's body.
"""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio import Protocol, Transport
from typing import Any, Final, cast

from foldline.engine.wire import dumps

TOGETHER: Final = "X-Bench-Together"
RECEIVED: Final = "X-Bench-Received"
# The last event of each answer.
END: Final = b'{"type":"message_stop"}'
PAUSE_SECONDS: Final = 0.5
DELTAS: Final = 16
# No more tokens than a session counts: its counts are right, and there is nothing to learn.
BYTES_A_TOKEN: Final = 5
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_TOGETHER: Final = re.compile(rb"(?i)\r\n" + TOGETHER.encode() + rb": *(\d+)")
_HEAD_ENDS: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"0\r\n\r\n"


def _event(name: str, **fields: Any) -> bytes:
    """A server-sent event as a chunk of HTTP/1.1."""
    event = b"event: %s\ndata: %s\n\n" % (name.encode(), dumps({"type": name, **fields}))
    return b"%x\r\n%s\r\n" % (len(event), event)


def _start(size: int) -> bytes:
    """The first events of the answer to a request of so many bytes."""
    usage = {"input_tokens": round(size / BYTES_A_TOKEN), "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    return _event("message_start", message=message) + CALL


def _delta(text: str) -> bytes:
    return _event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": text})


CALL: Final = _event(
    "content_block_start", index=0, content_block={"type": "tool_use", "id": "call_1", "name": "bash", "input": {}}
)
STOP: Final = (
    _event("content_block_stop", index=0)
    + _event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 60})
    + _event("message_stop")
    + _LAST_CHUNK
)
INPUT: Final = ('{"command":"make', *(f" part_{number}" for number in range(DELTAS - 2)), '"}')
REST: Final = b"".join(map(_delta, INPUT)) + STOP
PING: Final = _event("ping")


class Together:
    """The streams that wait until enough of them are open."""

    def __init__(self) -> None:
        self._open: list[Transport] = []

    def add(self, stream: Transport, number: int) -> None:
        """Keep a stream open until there are `number`; then all of them end."""
        self._open.append(stream)
        if len(self._open) == number:
            ended, self._open = self._open, []
            for each in ended:
                each.write(REST)

    async def ping(self) -> None:
        """Send an event on each open stream, again and again."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            for each in self._open:
                each.write(PING)


class Connection(Protocol):
    """One connection, on which requests come one after the other."""

    def __init__(self, together: Together) -> None:
        self._together = together
        self._came = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._came += data
        ends = self._came.find(_HEAD_ENDS)
        if ends < 0:
            return
        head = bytes(self._came[:ends])
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(self._came) == ends + len(_HEAD_ENDS) + size:
            self._came.clear()
            self._answer(size, _TOGETHER.search(head))

    def _answer(self, size: int, together: re.Match[bytes] | None) -> None:
        fields = f"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n{RECEIVED}: {size}"
        head = f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode()
        if together is None:
            self._transport.write(head + _start(size) + REST)
        else:
            self._transport.write(head + _start(size))
            self._together.add(self._transport, int(together[1]))


async def _serve() -> None:
    together = Together()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(together), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve_forever())
        tasks.create_task(together.ping())


if __name__ == "__main__":
    asyncio.run(_serve())
