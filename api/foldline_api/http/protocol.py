"""Reads requests from a connection with httptools, where that is installed; uvicorn has one for h11."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Final

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# As uvicorn has it for h11. The parser of httptools has no bound: it would keep headers that never end.
UNREAD_BYTES_MAX: Final = 64 * 1024


# From the connection or the first byte of a request on, its headers may take so long. They come in one piece, mostly.
# So may what is left of a body once its request is answered.
HEAD_SECONDS: Final = 20.0
# A client of an answer that waits to be read has to read something within this time. The kernel takes what it reads in
# pieces: at 13 KiB/s that is one in a minute.
READ_SECONDS: Final = 60.0


class BoundedProtocol(HttpToolsProtocol):
    """A connection that answers 400 where the parser of httptools would accept more than that of h11.

    That is when more than `UNREAD_BYTES_MAX` complete neither headers nor a part of a body, when a request does not
    say for which host it is, and when its body has an encoding that another server could read in another way. It is
    closed where headers do not come, nor the rest of a body that was answered before it had come, and where nothing of
    an answer is read.
    """

    _unread_bytes = 0
    _head_due: TimerHandle | None = None
    _reading_due: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        self._end_reading()
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
        self._end_wait()
        self._unread_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Of requests that follow at once, it may not be this one whose body is still on its way.
        if self.cycle.response_complete and self.cycle.more_body:
            self._await_head()
        self._await_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._await_reading()

    def _await_head(self) -> None:
        if self._head_due is None:
            self._head_due = self.loop.call_later(HEAD_SECONDS, self._end_without_head)

    def _end_without_head(self) -> None:
        self._head_due = None
        # There is no cycle before the first request.
        if getattr(self.cycle, "response_complete", True):
            self.transport.close()
        else:
            # Headers behind a request that is not answered yet may be held back until it is.
            self._await_head()

    def _await_reading(self, unread_bytes: int | None = None) -> None:
        """Look again later whether less waits to be read than `unread_bytes`, as has to be the case now."""
        self._end_reading()
        waiting_bytes = self.transport.get_write_buffer_size()
        if not waiting_bytes:
            return
        if unread_bytes is not None and waiting_bytes >= unread_bytes:
            self.transport.abort()
            return
        self._reading_due = self.loop.call_later(READ_SECONDS, self._await_reading, waiting_bytes)

    def _end_reading(self) -> None:
        if self._reading_due is not None:
            self._reading_due.cancel()
            self._reading_due = None

    def _end_wait(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None
