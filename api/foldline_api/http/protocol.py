"""Reads requests from a connection with httptools, where that is installed; uvicorn has one for h11."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Final

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# As uvicorn has it for h11. The parser of httptools has no bound: it would keep headers that never end.
UNREAD_BYTES_MAX: Final = 64 * 1024


# From the connection or the first byte of a request on, its headers may take so long. They come in one piece, mostly.
HEAD_SECONDS: Final = 20.0


class BoundedProtocol(HttpToolsProtocol):
    """A connection that answers 400 where the parser of httptools would accept more than that of h11.

    That is when more than `UNREAD_BYTES_MAX` complete neither headers nor a part of a body, when a request does not
    say for which host it is, and when its body has an encoding that another server could read in another way. It is
    closed where headers do not come.
    """

    _unread_bytes = 0
    _head_due: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unread_bytes += len(data)
        super().data_received(data)
        if self._unread_bytes > UNREAD_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._end_wait()
        self._unread_bytes = 0
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        encodings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if hosts != 1 and (hosts or version != "1.0"):
            # RFC 9112, 3.2. `data_received` answers 400.
            raise HttpParserError
        if encodings and (encodings != [b"chunked"] or version == "1.0"):
            # RFC 9112, 6.1.
            raise HttpParserError
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread_bytes = 0
        super().on_message_complete()

    def _await_head(self) -> None:
        if self._head_due is None:
            self._head_due = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _end_wait(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None
