"""What a worker counts, also if it is a process that its service started: then the service exports it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Protocol, TypeAlias

from foldline.log.events import BranchSummarized, CompactionMade, Event
from foldline.telemetry.logs import Contained, describe

logger = logging.getLogger(__name__)

# The name of a method, and its arguments.
Call: TypeAlias = tuple[str, tuple[Any, ...]]


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

    def heartbeat(self) -> None:
        """Send what counts nothing, and says that this process runs."""
        self._send_call(None)

    def _send(self, method: str, *arguments: object) -> None:
        self._send_call((method, arguments))

    def _send_call(self, call: Call | None) -> None:
        with self._lock, suppress(OSError):
            self._connection.send(call)


def count_relayed(call: Call | None, metrics: WorkerMetrics) -> None:
    """Count what `RelayedMetrics` sent, unless it is a heartbeat; what cannot be counted is logged."""
    if call is None:
        return
    method, arguments = call
    with Contained(lambda error: logger.error("not counted: %s", describe(error))):
        getattr(metrics, method)(*arguments)
