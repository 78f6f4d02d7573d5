"""The row of a worker's slots: the time of many summaries of a second each, against the ideal."""

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


def rows(folder: Path, stack: Stack) -> Iterator[Row]:
    """The row. All jobs are queued, each in its own session, before the worker is notified of the first."""
    slots = ("--concurrency", str(SLOTS))
    with summarizing(folder, stack, *slots, delay_seconds=SUMMARY_SECONDS) as llm, notifying_store(stack) as store:
        numbers = itertools.count()
        yield Row(
            name=f"{JOBS} summaries of 1 s, {SLOTS} slots",
            ours="one worker, first request to last publish",
            theirs="ideal",
            time_ours=lambda: _drain_seconds(Store(stack.database_url), store, llm, next(numbers)),
            time_theirs=lambda: JOBS / SLOTS * SUMMARY_SECONDS,
            at_most=1 / 0.95,
            rounds=ROUNDS,
        )


def _drain_seconds(silent: Store, store: Store, llm: Summarizer, number: int) -> float:
    """The seconds from the first request to the last publish of one round."""
    tenant = f"slots-{number}"
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
