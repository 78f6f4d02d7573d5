"""The log's row: an append in a long session against one in a short session."""

from __future__ import annotations

import itertools
from pathlib import Path

import migrations
from benchmarks.harness import Row, seconds
from benchmarks.transcripts import transcript
from compaction.formats import FORMATS
from sessions import appending, lifecycle
from sessions.store import Store

APPENDS = 100
TENANT = "bench"


def rows(folder: Path) -> list[Row]:
    """The row, over two sessions in one database; neither compacts while it is measured."""
    store = Store(f"sqlite:///{folder}/log.db")
    migrations.upgrade(store.engine)
    _fill(store, "long", 10_000)
    numbers = itertools.count()

    def time_short() -> float:
        name = f"short-{next(numbers)}"
        _fill(store, name, 100)
        return seconds(lambda: _append_all(store, name))

    return [
        Row(
            name="append in a long session",
            ours="in one of 10,000 entries",
            theirs="in one of 100",
            time_ours=lambda: seconds(lambda: _append_all(store, "long")),
            time_theirs=time_short,
            at_most=1.15,
        )
    ]


def _fill(store: Store, name: str, entries: int) -> None:
    with store.write() as tx:
        lifecycle.create(tx, TENANT, lifecycle.NewSession("openai/gpt-4o", name, 100_000_000))
    drafts = appending.prepare(FORMATS["openai"].parse(transcript(entries)))
    for start in range(0, len(drafts), 500):
        with store.write() as tx:
            appending.append(tx, TENANT, name, drafts[start : start + 500])


def _append_all(store: Store, name: str) -> None:
    for number in range(APPENDS):
        drafts = appending.prepare(FORMATS["openai"].parse([{"role": "user", "content": f"Message {number}. " * 60}]))
        with store.write() as tx:
            appending.append(tx, TENANT, name, drafts)
