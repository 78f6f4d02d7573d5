"""Free ports for servers that are restarted on the same port."""

from __future__ import annotations

import atexit
import random
import socket
from contextlib import ExitStack
from typing import Final

HOST: Final = "127.0.0.1"
# Below the ports that systems give to clients. A client that keeps connecting to a stopped server could get that
# server's own port, connect to itself, and keep the server from starting.
PORTS: Final = range(20_000, 32_000)
# Until this process ends it holds the UDP port of each number that it gave out, and so nobody else who asks here gets
# that number in the time before the server listens, or while it is restarted.
_held: Final = ExitStack()
atexit.register(_held.close)


def free_port() -> int:
    """A port on loopback that nobody listens on, and that no running process got from here before."""
    return next(port for port in random.sample(PORTS, len(PORTS)) if _is_free(port) and _hold(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return _binds(probe, port)


def _hold(port: int) -> bool:
    holder = socket.socket(type=socket.SOCK_DGRAM)
    if not _binds(holder, port):
        holder.close()
        return False
    _held.enter_context(holder)
    return True


def _binds(bound: socket.socket, port: int) -> bool:
    try:
        bound.bind((HOST, port))
    except OSError:
        return False
    return True
