"""Reads requests from a connection with httptools, where that is installed; uvicorn has one for h11."""

from __future__ import annotations

from typing import Final

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# As uvicorn has it for h11. The parser of httptools has no bound: it would keep headers that never end.
UNREAD_BYTES_MAX: Final = 64 * 1024


class BoundedProtocol(HttpToolsProtocol):
    """A connection that answers 400 where the parser of httptools would accept more than that of h11.

    That is when more than `UNREAD_BYTES_MAX` complete neither headers nor a part of a body, and when a request does not
    say for which host it is.
    """

    _unread_bytes = 0

    def data_received(self, data: bytes) -> None:
        self._unread_bytes += len(data)
        super().data_received(data)
        if self._unread_bytes > UNREAD_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def on_headers_complete(self) -> None:
        self._unread_bytes = 0
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and (hosts or self.parser.get_http_version() != "1.0"):
            # RFC 9112, 3.2. `data_received` answers 400.
            raise HttpParserError
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread_bytes = 0
        super().on_message_complete()
