"""What a worker counts, also if it is a process that its service started: then the service exports it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Protocol

from foldline.log.events import Event


class WorkerMetrics(Protocol):
    """The metrics that a worker reports, as `Metrics` has them."""

    def count(self, event: Event) -> None:
        """Count an event of the session log."""

    def expect_summarizer(self, provider: str, model: str) -> None:
        """Export 0 failures of a summarizer."""

    def summarized(self, provider: str, model: str, seconds: float, usage: Mapping[str, int]) -> None:
        """Count a summary, its duration and the tokens it used."""

    def not_summarized(self, provider: str, model: str) -> None:
        """Count a summary that the summarizer could not write."""


class RelayedMetrics:
    """Metrics of another process: each call is sent to it. Several threads may use this; a send waits for its reader.

    What cannot be sent is lost, as the other process has ended.
    """

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._lock = Lock()

    def count(self, event: Event) -> None:
        """See `WorkerMetrics`."""
        self._send("count", event)

    def expect_summarizer(self, provider: str, model: str) -> None:
        """See `WorkerMetrics`."""
        self._send("expect_summarizer", provider, model)

    def summarized(self, provider: str, model: str, seconds: float, usage: Mapping[str, int]) -> None:
        """See `WorkerMetrics`."""
        self._send("summarized", provider, model, seconds, {**usage})

    def not_summarized(self, provider: str, model: str) -> None:
        """See `WorkerMetrics`."""
        self._send("not_summarized", provider, model)

    def _send(self, method: str, *arguments: object) -> None:
        with self._lock, suppress(OSError):
            self._connection.send((method, arguments))


def count_relayed(connection: Connection[Any, Any], metrics: WorkerMetrics) -> None:
    """Count what is sent on a connection of `RelayedMetrics`, until its other end is closed."""
    with suppress(EOFError, OSError):
        while True:
            method, arguments = connection.recv()
            getattr(metrics, method)(*arguments)
