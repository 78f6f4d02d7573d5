"""The log's rows: an append in a long session against one in a short session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.harness import Row, seconds
from benchmarks.transcripts import transcript
from foldline import migrations
from foldline.engine.formats import FORMATS
from foldline.log.storage.store import Store
from foldline.log.use_cases import append, lifecycle

APPENDS: Final = 100
TENANT: Final = "bench"
NEW: Final = lifecycle.NewSession("openai/gpt-4o", context_window=100_000_000)


def rows(database: str, url: str) -> Iterator[Row]:
    """The row, over sessions in one database, named for its kind; none of them compacts."""
    store = Store(url)
    migrations.upgrade(store.engine)
    long = _filled(store, 10_000)

    def time_short() -> float:
        short = _filled(store, 100)
        return seconds(lambda: _append_all(store, short))

    yield Row(
        name=f"append in a long session, {database}",
        ours="in one of 10,000 entries",
        theirs="in one of 100",
        time_ours=lambda: seconds(lambda: _append_all(store, long)),
        time_theirs=time_short,
        at_most=1.15,
    )
    store.close()


def _filled(store: Store, entries: int) -> str:
    """The id of a new session."""
    with store.write() as tx:
        name = lifecycle.create(tx, TENANT, NEW).session.id
    drafts = append.prepare(FORMATS["openai"].parse(transcript(entries)))
    for start in range(0, len(drafts), 500):
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts[start : start + 500])
    return name


def _append_all(store: Store, name: str) -> None:
    for number in range(APPENDS):
        drafts = append.prepare(FORMATS["openai"].parse([{"role": "user", "content": f"Message {number}. " * 60}]))
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts)
