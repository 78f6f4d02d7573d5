"""Connections to a provider: each has one call at a time, which another thread can end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any, Final

import httpx

# A connection without a call is closed after so long: whoever stands in between may have forgotten it.
IDLE_SECONDS: Final = 30.0
# The HTTP client's event for a new connection.
CONNECTED: Final = "connection.connect_tcp.complete"
# The same for a request that was sent whole.
SENT: Final = "http11.send_request_body.complete"


class Connection:
    """A client that has one connection at a time, and that connection's socket."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.free_since = 0.0
        self._socket: socket.socket | None = None

    def keep(self, handle: socket.socket) -> None:
        """Keep the socket of a new connection in place of the last one's."""
        self._forget()
        # A duplicate of the socket under TLS: shutting down the one in use would continue without encryption.
        self._socket = handle.dup()

    def shut_down(self) -> None:
        """End the connection; a waiting read returns at once."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection: a provider that still writes an answer notices."""
        self.shut_down()
        self.http.close()
        self._forget()

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()


class EndpointCall:
    """A call that has a connection until it is over, so that another thread can end it: closing the client would not
    wake a waiting read.

    `has_cost`: its last request was sent and not refused, so that the provider may charge for it, answer or not.
    `is_answered`: all that it asked for is there. `is_whole`: its last response was read to its end. `is_on_new`: its
    connection did not have another call before.
    """

    def __init__(self, connection: Connection) -> None:
        self.is_cut = False
        self.has_cost = False
        self.is_answered = False
        self.is_whole = False
        self.is_on_new = False
        self.http = connection.http
        self._connection: Connection | None = connection
        # Whoever ends the call late must not end the connection's next one.
        self._lock = Lock()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Called by the HTTP client at each step of a request."""
        if event == CONNECTED:
            self.is_on_new = True
            with self._lock:
                if self._connection is not None:
                    self._connection.keep(info["return_value"].get_extra_info("socket"))
        if event == SENT:
            self.has_cost = True
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """End the call and its connection; a waiting read returns at once."""
        self.is_cut = True
        self.leave()

    def leave(self) -> None:
        """End the connection of a call that needs no more of it."""
        with self._lock:
            if self._connection is not None:
                self._connection.shut_down()

    def end(self) -> None:
        """The call is over: from now on nothing ends its connection."""
        with self._lock:
            self._connection = None


class Connections:
    """The connections of an endpoint: a call takes one that is free, or a new one of `create`."""

    def __init__(self, create: Callable[[], httpx.Client]) -> None:
        self._create = create
        self._free: list[Connection] = []
        self._is_closed = False
        self._lock = Lock()

    def take(self) -> Connection:
        """A connection for one call."""
        self._close_old()
        with self._lock:
            found = self._free.pop() if self._free else None
        return found or Connection(self._create())

    def give_back(self, connection: Connection) -> None:
        """Take back the connection of a call that is over, whose last response was read to its end."""
        self._close_old()
        with self._lock:
            is_kept = not self._is_closed
            if is_kept:
                connection.free_since = monotonic()
                self._free.append(connection)
        if not is_kept:
            connection.close()

    def _close_old(self) -> None:
        oldest = monotonic() - IDLE_SECONDS
        with self._lock:
            old = [connection for connection in self._free if connection.free_since < oldest]
            self._free = [connection for connection in self._free if connection.free_since >= oldest]
        for connection in old:
            connection.close()

    def close(self) -> None:
        """Close them; those that have a call follow when it is over."""
        with self._lock:
            self._is_closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()
