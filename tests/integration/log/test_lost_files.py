"""What can become of an SQLite file under a service: it is deleted, replaced, or its disk is full."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from stat import S_IMODE
from threading import Barrier

import pytest
from sqlalchemy import func, make_url, select

from foldline import migrations
from foldline.log.errors import DiskFull, FileGone
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from tests.support.log.sessions import TENANT
from tests.support.processes.databases import only_sqlite

database_kind = only_sqlite


@pytest.fixture
def file(database: str) -> Path:
    return Path(make_url(database).database or "")


def create(store: Store) -> None:
    with store.write() as tx:
        lifecycle.create(tx, TENANT, NewSession("openai/gpt-4o"))


def create_many(store: Store) -> None:
    for _ in range(500):
        create(store)


def read(store: Store) -> None:
    with store.read():
        pass


@pytest.mark.parametrize("is_replaced", [True, False])
def test_nothing_is_written_to_a_file_that_is_gone(store: Store, file: Path, *, is_replaced: bool) -> None:
    create(store)
    read(store)
    shutil.copy(file, f"{file}.copy")
    file.unlink()
    if is_replaced:
        Path(f"{file}.copy").rename(file)
    for work in (create, read):
        with pytest.raises(FileGone, match=file.name):
            work(store)


def test_a_file_that_is_put_back_has_all_that_was_acknowledged(store: Store, file: Path) -> None:
    for _ in range(5):
        create(store)
    elsewhere = file.with_suffix(".moved")
    file.rename(elsewhere)
    start = Barrier(4)

    def read_at_once(_: int) -> None:
        # Each needs a connection of its own.
        start.wait()
        with pytest.raises(FileGone):
            read(store)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read_at_once, range(4)))
    assert not file.exists()
    store.close()
    elsewhere.rename(file)
    with closing(Store(f"sqlite:///{file}")) as again, again.read() as tx:
        assert tx.execute(select(func.count()).select_from(SESSION)).scalar_one() == 5


def test_a_full_disk_is_named(store: Store) -> None:
    create(store)
    with store.write() as tx:
        tx.connection.exec_driver_sql("PRAGMA max_page_count = 1")
    with pytest.raises(DiskFull):
        create_many(store)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    store = Store(f"sqlite:///{path}")
    migrations.upgrade(store.engine)
    assert {S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()} == {0o600}
    store.close()
