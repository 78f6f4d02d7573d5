"""Ports for servers that have to come back on the port they had."""

from __future__ import annotations

import random
import socket
from typing import Final

HOST: Final = "127.0.0.1"
# Below those that systems hand out: a client that connects again and again to a server that is down could be given the
# server's own port to connect from, would find itself there, and keep the server from coming back.
PORTS: Final = range(20_000, 32_000)


def free_port() -> int:
    """A port on loopback that nobody listens on."""
    return next(port for port in random.sample(PORTS, len(PORTS)) if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True
