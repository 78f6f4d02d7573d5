"""What a process is observed by: its figures and its traces, made once and passed down."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.log.storage.store import Store
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.tracing import Silent, Tracing


@dataclass(frozen=True, slots=True)
class Signals:
    """The metrics and the tracing of one process; unless told otherwise, traces go nowhere."""

    metrics: Metrics = field(default_factory=Metrics)
    tracing: Tracing = field(default_factory=Silent)

    def follow(self, store: Store) -> None:
        """From now on, count what happens in the store, and have its jobs know the trace that they are asked for in."""
        self.metrics.follow(store)
        store.traceparent = lambda: self.tracing.traceparent
