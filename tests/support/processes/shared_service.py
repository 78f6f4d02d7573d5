"""`foldline serve` as tenants share it: with a key, on a file, and the processes that it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.http import client

LISTENING = r"listening on (http://127\.0\.0\.1:\d+)"
KEY = {"Authorization": "Bearer the-only-long-key"}
VARIABLES = {"FOLDLINE_METRICS_PORT": "0", "FOLDLINE_API_KEYS": "ours:the-only-long-key"}
SECONDS = 60


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[tuple[Daemon, httpx.Client]]:
    """The command on a file, and a caller with its key."""
    variables = {"FOLDLINE_DATABASE_URL": f"sqlite:///{folder}/foldline.db", **VARIABLES, **variables}
    with (
        daemon(folder, "serve", "--port", "0", until=LISTENING, variables=variables, is_anew=True) as running,
        client(running.ready.removeprefix("listening on "), timeout_seconds=SECONDS) as caller,
    ):
        caller.headers.update(KEY)
        yield running, caller


def children_of(running: Daemon, name: str) -> list[psutil.Process]:
    """The processes of this name that it has started."""
    return [child for child in psutil.Process(running.process.pid).children() if child.name() == name]
