"""The rows of workers' slots: the time of many summaries of a second each, against the ideal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Final

from benchmarks.harness import Row
from benchmarks.work import (
    Summarizer,
    new_sessions,
    notifying_store,
    request_summary,
    summarizing,
    wait_until_published,
)
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.events import JobWaits
from foldline.log.storage.store import Store
from stack.stack import Stack

SLOTS: Final = 64
JOBS: Final = 10 * SLOTS
SUMMARY_SECONDS: Final = 1.0
ROUNDS: Final = 3
# The threads of one process take turns at its interpreter.
WORKERS: Final = (1, 2)


def rows(folder: Path, stack: Stack) -> Iterator[Row]:
    """The rows. All jobs are queued, each in its own session, before the workers are notified of the first."""
    for workers in WORKERS:
        yield from _rows(folder, stack, workers)


def _rows(folder: Path, stack: Stack, workers: int) -> Iterator[Row]:
    slots = ("--concurrency", str(SLOTS // workers))
    with (
        summarizing(folder, stack, *slots, delay_seconds=SUMMARY_SECONDS, workers=workers) as llm,
        notifying_store(stack) as store,
    ):
        numbers = itertools.count()
        yield Row(
            name=f"{JOBS} summaries of 1 s, {SLOTS} slots",
            ours=f"{workers} worker{'s' * (workers > 1)}, first request to last publish",
            theirs="ideal",
            time_ours=lambda: _drain_seconds(Store(stack.database_url), store, llm, f"slots-{workers}", next(numbers)),
            time_theirs=lambda: JOBS / SLOTS * SUMMARY_SECONDS,
            at_most=1 / 0.95,
            rounds=ROUNDS,
        )


def _drain_seconds(silent: Store, store: Store, llm: Summarizer, tenants: str, number: int) -> float:
    """The seconds from the first request to the last publish of one round."""
    tenant = f"{tenants}-{number}"
    _queue(silent, tenant)
    silent.close()
    store.publish(JobWaits(INTERACTIVE))
    begun = llm.arrival(number * JOBS)
    # The database is not polled until only the last summaries are missing.
    llm.arrival(number * JOBS + JOBS - 1)
    wait_until_published(store, tenant, JOBS)
    return monotonic() - begun


def _queue(silent: Store, tenant: str) -> None:
    """Queue all jobs through a store without subscribers."""
    ids = new_sessions(silent, tenant, JOBS)
    with silent.write() as tx:
        for session_id in ids:
            request_summary(tx, tenant, session_id)
