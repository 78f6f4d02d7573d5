"""The row of a job's start: the time from its commit to the summarizer, against a bare Celery task that calls it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from benchmarks.bare_task import BareTask
from benchmarks.harness import Row, Timer
from benchmarks.processes import running
from benchmarks.work import (
    Summarizer,
    new_sessions,
    notifying_store,
    request_summary,
    summarizing,
    wait_until_published,
)
from foldline.log.events import Event, JobWaits
from foldline.log.storage.store import Store
from stack.stack import Stack

JOBS: Final = 60
TENANT: Final = "latency"
IDLE_SECONDS: Final = 0.1


def rows(folder: Path, stack: Stack) -> Iterator[Row]:
    """The row: one job after the other, each for an idle worker, and a bare task after each."""
    with (
        summarizing(folder, stack, delay_seconds=0) as llm,
        running(folder, "benchmarks.bare_task", stack.broker_url, llm.url, until="ready"),
        closing(BareTask(stack.broker_url, llm)) as task,
        notifying_store(stack) as store,
    ):
        way = _Way(store, llm)
        yield Row(
            name="from commit to the summarizer",
            ours="commit of a job to first byte at the LLM",
            theirs="Celery with threads: send_task to first byte",
            time_ours=lambda: _idle_after(way.seconds),
            time_theirs=lambda: _idle_after(task.seconds),
            at_most=2.5,
            ours_at_most=0.025,
            rounds=JOBS,
        )


def _idle_after(way: Timer) -> float:
    """The seconds of one way; the workers are idle again when this returns."""
    taken = way()
    # The worker looks for more jobs and finds none.
    sleep(IDLE_SECONDS)
    return taken


class _Way:
    """Times the start of one job after the other. It is the first subscriber to a commit."""

    def __init__(self, store: Store, llm: Summarizer) -> None:
        self._store = store
        self._llm = llm
        store.subscribers = (self._on_event, *store.subscribers)
        self._sessions = enumerate(new_sessions(store, TENANT, JOBS + 1))
        self._committed = 0.0

    def seconds(self) -> float:
        """The seconds until the next job began; it has ended when this returns."""
        number, session_id = next(self._sessions)
        with self._store.write() as tx:
            request_summary(tx, TENANT, session_id)
        arrived = self._llm.arrival_after(self._committed)
        wait_until_published(self._store, TENANT, number + 1)
        return arrived - self._committed

    def _on_event(self, event: Event) -> None:
        if isinstance(event, JobWaits):
            self._committed = monotonic()
