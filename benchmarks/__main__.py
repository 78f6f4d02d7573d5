"""`python -m benchmarks`: measures every row and prints the tables; the exit code is 1 if a bound is missed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from benchmarks import claims, engine, frozen, http, latency, log, memory, refusals, slots, startup, views, waiting_jobs
from benchmarks.gateway import rows as gateway
from benchmarks.harness import Row, Together, show
from benchmarks.peers import long_session
from benchmarks.peers import rows as peers
from benchmarks.prefix_cost import table
from benchmarks.prefix_cost.corpus import sessions
from benchmarks.riding import table as riding
from stack.stack import Stack


def main() -> int:
    """Measure all rows, then what sessions and their summaries cost. Returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as name, closing(_rows(Path(name))) as rows:
        is_fast = show(rows)
    is_cheap = [table.show(), riding.show(sessions())]
    return 0 if is_fast and all(is_cheap) else 1


def _rows(folder: Path) -> Generator[Row | Together, None, None]:
    """Each row; only the processes that it needs are running meanwhile."""
    yield from engine.rows()
    yield from log.rows("SQLite", f"sqlite:///{folder}/log.db")
    yield from claims.rows_on_sqlite(folder)
    yield from http.rows_on_sqlite(folder)
    yield from refusals.rows(folder)
    yield from startup.rows(folder)
    yield from views.rows(folder)
    yield from waiting_jobs.rows(folder)
    yield from memory.rows()
    yield from gateway.rows(folder)
    yield from peers.rows(folder)
    yield from long_session.rows(folder)
    with Stack(workers=0, logs=folder / "stack", is_durable=True, without=("beat", "flower")) as stack:
        # Their workers would do the jobs that the other rows leave behind.
        yield from latency.rows(folder, stack)
        yield from slots.rows(folder, stack)
        yield from log.rows("PostgreSQL", stack.database_url)
        yield from claims.rows_on_postgresql(stack.database_url)
        yield from http.rows_on_postgresql(folder, stack)
        yield from frozen.rows(stack)


if __name__ == "__main__":
    sys.exit(main())
