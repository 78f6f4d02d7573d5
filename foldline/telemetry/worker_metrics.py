"""What a worker counts, also if it is a process that its service started: then the service exports it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Protocol

from foldline.log.events import BranchSummarized, CompactionMade, Event
from foldline.telemetry.logs import Contained, describe

logger = logging.getLogger(__name__)


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
    """Metrics of another process: each call is sent to it. Several threads may use this.

    A send waits while the pipe is full, which has room for hundreds: then the other process is stopped, and with it
    those whom a wait could bother. What cannot be sent is lost, as that process has ended.
    """

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._lock = Lock()

    def count(self, event: Event) -> None:
        """See `WorkerMetrics`. What was said stays in this process: nothing counts it."""
        if isinstance(event, CompactionMade | BranchSummarized):
            event = replace(event, facts={})
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


def count_relayed(call: tuple[str, tuple[Any, ...]], metrics: WorkerMetrics) -> None:
    """Count what `RelayedMetrics` sent; what cannot be counted is logged."""
    method, arguments = call
    with Contained(lambda error: logger.error("not counted: %s", describe(error))):
        getattr(metrics, method)(*arguments)
