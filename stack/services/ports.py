"""Free ports for servers that are restarted on the same port."""

from __future__ import annotations

import random
import socket
from typing import Final

HOST: Final = "127.0.0.1"
# Below the ports that systems give to clients. A client that keeps connecting to a stopped server could get that
# server's own port, connect to itself, and keep the server from starting.
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
