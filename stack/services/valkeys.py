"""Valkey or Redis: starts it, and tests whether it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from stack.processes.guarded import Program
from stack.services.binaries import valkey_program
from stack.services.ports import HOST, free_port
from stack.services.users import give, server_user

ANSWER_SECONDS: Final = 2.0


def new_server(folder: Path, log: Path, *, is_durable: bool) -> tuple[Program, str]:
    """An empty server that works in `folder`, ready to be started, and its address. It keeps data only if durable.

    Raises:
        NoBinaries: this machine has none.
    """
    user, port = server_user(), free_port()
    give(folder, user)
    options = {"bind": HOST, "port": str(port), "dir": ".", "save": "", "appendonly": "yes" if is_durable else "no"}
    command = [str(valkey_program(user, folder))]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    program = Program(command, log=log, folder=folder, user=user)
    return program, f"redis://{HOST}:{port}/0"


def answers(url: str) -> bool:
    """Whether a server answers a ping."""
    retry = Retry(NoBackoff(), 0)
    timeouts = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
    with redis.Redis.from_url(url, retry=retry, **timeouts) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
