"""The rows of claims: a worker's next job where a hundred thousand jobs wait, and where a hundred do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import Table, insert, make_url, select

from benchmarks.harness import Row, seconds
from benchmarks.work import new_sessions, request_summary
from foldline import migrations
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, endings
from foldline.log.jobs.leases import Claim
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import BRANCH, JOB, SESSION
from stack.services import postgresql

FEW: Final = 100
MANY: Final = 100_000
CLAIMS: Final = 20
ROUNDS: Final = 7
ROWS_AT_ONCE: Final = 1_000
WAITING: Final = "waiting-"
# Far from the numbers that the database gives itself.
FIRST_NUMBER: Final = 1_000_000


def rows_on_sqlite(folder: Path) -> Iterator[Row]:
    """The row of two new files."""
    yield from _rows("SQLite", f"sqlite:///{folder}/few.db", f"sqlite:///{folder}/many.db")


def rows_on_postgresql(url: str) -> Iterator[Row]:
    """The row of two new databases of this server."""
    yield from _rows("PostgreSQL", _new_database(url, "few"), _new_database(url, "many"))


def _rows(database: str, few_url: str, many_url: str) -> Iterator[Row]:
    with closing(_store(few_url, FEW)) as few, closing(_store(many_url, MANY)) as many:
        numbers = count()
        yield Row(
            name=f"{CLAIMS} claims, {database}",
            ours=f"{MANY:,} jobs wait",
            theirs=f"{FEW} jobs wait",
            time_ours=lambda: _claim_seconds(many, f"tenant-{next(numbers)}"),
            time_theirs=lambda: _claim_seconds(few, f"tenant-{next(numbers)}"),
            at_most=1.2,
            rounds=ROUNDS,
        )


def _new_database(url: str, name: str) -> str:
    with psycopg.connect(postgresql.plain(url), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _store(url: str, waiting: int) -> Store:
    store = Store(url)
    migrations.upgrade(store.engine)
    (session_id,) = new_sessions(store, "waiting", 1)
    with store.write() as tx:
        request_summary(tx, "waiting", session_id)
    for first in range(0, waiting, ROWS_AT_ONCE):
        with store.write() as tx:
            _repeat(tx, range(first, min(first + ROWS_AT_ONCE, waiting)))
    # That of the first session itself.
    _one_claim_seconds(store)
    return store


def _repeat(tx: Transaction, numbers: range) -> None:
    """Add sessions like the first one, each with its job. They have no entries: nobody comes to theirs."""
    keys: tuple[tuple[Table, dict[str, Any]], ...] = (
        (SESSION, {"pk": FIRST_NUMBER, "id": WAITING}),
        (BRANCH, {"session_pk": FIRST_NUMBER}),
        (JOB, {"number": FIRST_NUMBER, "id": "job-", "session_pk": FIRST_NUMBER, "turn": FIRST_NUMBER}),
    )
    for table, key in keys:
        first = dict(tx.execute(select(table).limit(1)).mappings().one())
        tx.execute(
            insert(table), [first | {name: _numbered(start, at) for name, start in key.items()} for at in numbers]
        )


def _numbered(start: int | str, number: int) -> int | str:
    return start + number if isinstance(start, int) else f"{start}{number}"


def _claim_seconds(store: Store, tenant: str) -> float:
    """What the claims of a tenant's jobs take, one after the other; each job ends before the next one is claimed."""
    ids = new_sessions(store, tenant, CLAIMS)
    with store.write() as tx:
        for session_id in ids:
            request_summary(tx, tenant, session_id)
    return sum(_one_claim_seconds(store) for _ in ids)


def _one_claim_seconds(store: Store) -> float:
    found: list[Claim | None] = []
    taken = seconds(lambda: found.append(claims.claim(store, INTERACTIVE)))
    (claim,) = found
    if claim is None or claim.preparation.session_id.startswith(WAITING):
        message = "no job was claimed, or one that waits behind those that are timed"
        raise RuntimeError(message)
    endings.cancel_held(store, claim, "it was claimed")
    return taken
