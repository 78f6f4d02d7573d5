"""TLS before a server that speaks none: a proxy on loopback, with a certificate of an authority of our own."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from urllib.parse import urlsplit

import trustme

CHUNK_BYTES = 65_536
LOOK_SECONDS = 0.1


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
    parts = urlsplit(url)
    # At its end it waits for the threads of its connections.
    with _Server(context, (parts.hostname or "", parts.port or 0)) as server:
        thread = Thread(target=server.serve_forever, args=(LOOK_SECONDS,), name="tls-proxy")
        thread.start()
        try:
            yield Proxy(server.server_address[1], folder / "authority.pem")
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


class _Server(ThreadingTCPServer):
    def __init__(self, context: ssl.SSLContext, behind: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.context = context
        self.behind = behind
        self.stopping = Event()


class _Handler(BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        # Who does not trust us hangs up.
        with (
            suppress(OSError),
            self.server.context.wrap_socket(self.request, server_side=True) as front,
            socket.create_connection(self.server.behind) as behind,
        ):
            self._pass_on(front, behind)

    def _pass_on(self, front: ssl.SSLSocket, behind: socket.socket) -> None:
        """Pass on what comes, in both directions, until one of them ends or we do."""
        others = {front: behind, behind: front}
        while not self.server.stopping.is_set():
            readable = [front] if front.pending() else select.select(list(others), [], [], LOOK_SECONDS)[0]
            for source in readable:
                data = source.recv(CHUNK_BYTES)
                if not data:
                    return
                others[source].sendall(data)
