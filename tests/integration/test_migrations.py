"""The migrations against the tables they have to make, on each database there is, twice and at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from sqlmodel import SQLModel

from foldline import migrations
from foldline.cli.database import check_schema, open_store
from foldline.log.storage.passages import PASSAGE
from foldline.log.storage.store import Store
from foldline.migrations import NewerSchema, Schema, Standing
from foldline.settings import Settings
from foldline.terminal import CommandFailed
from tests.support.eventually import eventually
from tests.support.log.sessions import Scene, assert_consistent, turns
from tests.support.processes.databases import SQLITE, Server

PROGRAMS = 4
# They renamed columns, and refuse while processes of the version before are connected. There will be no other.
NOT_BESIDE_THE_VERSION_BEFORE = {"0007"}


@pytest.fixture
def url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if database_kind == SQLITE:
        yield f"sqlite:///{tmp_path}/new.db"
    else:
        server: Server = request.getfixturevalue("postgresql")
        with server.database(is_empty=True) as url:
            yield url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()


def at(store: Store, revision: str) -> None:
    """Make the database one that says to be at a revision."""
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})


def migrated(store: Store, run: Callable[[Config, str], None], revision: str) -> None:
    """Have Alembic upgrade or downgrade to a revision."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with store.engine.connect() as connection:
        config.attributes["connection"] = connection
        run(config, revision)
        connection.commit()


def first_tables(store: Store) -> str:
    """Make the tables as the first version had them; their revision."""
    first = migrations.schema_of(store.engine).known[-1]
    migrated(store, command.upgrade, first)
    return first


def test_files_are_named_for_their_revisions(store: Store) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    walked = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert [*migrations.schema_of(store.engine).known] == walked


def filled(store: Store) -> list[Scene]:
    """Sessions that show all that a database may hold: a job that waits, a summary, branches, a pin, an undo."""
    summarized, branched, waiting = (Scene(store, id=name) for name in ("summarized", "branched", "waiting"))
    summarized.append(*turns(7, 60))
    assert summarized.publish(summarized.claimed()) == "succeeded"
    summarized.pin(20)
    first, *_ = branched.append(*turns(3, 60)).entry_ids
    branched.compact(target_tokens=200)
    branched.undo(branched.live[-1])
    branched.leave(first)
    waiting.append(*turns(12, 60))
    return [summarized, branched, waiting]


def columns(store: Store) -> dict[tuple[str, str], Any]:
    """What the database says of each column, by table and name."""
    found = inspect(store.engine)
    tables = found.get_table_names()
    return {(table, column["name"]): column for table in tables for column in found.get_columns(table)}


def is_no_part_of_an_index(name: str | None, kind: str, _parents: Any) -> bool:
    """Whether this is for the tables to have; SQLite keeps a full-text index in tables of its own."""
    return not (kind == "table" and name is not None and name.startswith(PASSAGE.name))


def picture(scenes: list[Scene]) -> list[Any]:
    """What is said of sessions: their views, totals, compactions, jobs and entries."""
    return [(s.layout, s.used, s.pending, s.live, s.states, s.entries, s.records) for s in scenes]


def standing(store: Store) -> Standing:
    return migrations.schema_of(store.engine).standing


def is_required(column: Mapping[str, Any]) -> bool:
    """Whether a program that does not know the column cannot add a row."""
    return not column["nullable"] and column["default"] is None


def migrate(url: str) -> Schema:
    """What `foldline migrate` does; the schema before."""
    with open_store(Settings(database_url=url)) as own:
        return migrations.upgrade(own.engine)


def upgraded(url: str, start: Barrier) -> str:
    """How a program with connections of its own finds the database when it migrates it, at the same time as others."""
    store = Store(url)
    try:
        start.wait()
        return migrations.upgrade(store.engine).standing.value
    finally:
        store.close()


def test_the_migrations_make_the_tables_of_the_models(store: Store) -> None:
    migrations.upgrade(store.engine)
    # Integers of SQLite have 64 bits, whatever their column is called.
    options = {"compare_type": not store.is_sqlite, "include_name": is_no_part_of_an_index}
    with store.engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), SQLModel.metadata) == []


def test_a_second_run_finds_nothing_to_do(store: Store) -> None:
    assert migrations.upgrade(store.engine).standing is Standing.EMPTY
    assert migrations.upgrade(store.engine).standing is Standing.SAME
    assert standing(store) is Standing.SAME


def test_an_older_schema_is_brought_up_to_date(store: Store) -> None:
    first = first_tables(store)
    assert standing(store) is Standing.OLDER
    assert migrations.upgrade(store.engine).revision == first
    assert standing(store) is Standing.SAME


def test_an_upgrade_from_the_revision_before_keeps_all_that_is_there(store: Store) -> None:
    migrations.upgrade(store.engine)
    scenes = filled(store)
    before = picture(scenes)
    newest, previous, *_ = migrations.schema_of(store.engine).known
    migrated(store, command.downgrade, previous)
    assert standing(store) is Standing.OLDER

    assert migrations.upgrade(store.engine).revision == previous

    assert migrations.schema_of(store.engine).revision == newest
    assert picture(scenes) == before
    while (claim := scenes[0].claim()) is not None:
        assert scenes[0].publish(claim) == "succeeded"
    assert scenes[-1].states[0] == "succeeded"
    for scene in scenes:
        scene.append(*turns(1, 20))
        assert_consistent(scene)


def test_an_upgrade_keeps_no_reader_of_jobs_waiting_for_a_writer_of_branches(postgresql: Server) -> None:
    """Whoever changes a session holds its branch; those who look for jobs meanwhile must not wait for an upgrade."""
    with postgresql.database(is_empty=True) as url, closing(Store(url)) as store, closing(Store(url)) as writer:
        upgrade_beside(store, writer)


def upgrade_beside(store: Store, writer: Store) -> None:
    """Upgrade a database in which somebody writes."""
    migrated(store, command.upgrade, "0004")
    with writer.engine.connect() as changing, ThreadPoolExecutor(1) as pool:
        changing.execute(text("UPDATE branch SET owed_tokens = 1"))
        changing.execute(text("SELECT 1 FROM branch FOR UPDATE"))
        upgrading = pool.submit(migrations.upgrade, store.engine)
        eventually(lambda: "traceparent" in {name for _, name in columns(writer)})
        with writer.engine.begin() as reading:
            reading.execute(text("SET LOCAL lock_timeout = '1s'"))
            assert reading.execute(text("SELECT count(traceparent) FROM job")).scalar() == 0
        assert not upgrading.done()
        changing.execute(text("UPDATE job SET state = state"))
        changing.commit()
        assert upgrading.result(10).revision == "0004"


def test_each_revision_removes_no_column_and_what_it_adds_may_be_left_out(store: Store) -> None:
    """Processes of the version before write without it, and work beside ours until they are replaced."""
    first, *later = reversed(migrations.schema_of(store.engine).known)
    migrated(store, command.upgrade, first)
    for revision in later:
        before = columns(store)
        migrated(store, command.upgrade, revision)
        after = columns(store)
        removed = before.keys() - after.keys()
        # The version before writes nothing to a table that it does not know.
        known = {table for table, _ in before}
        added = [name for name in after.keys() - before.keys() if name[0] in known]
        required = [name for name in added if is_required(after[name])]
        assert (revision, bool(removed or required)) == (revision, revision in NOT_BESIDE_THE_VERSION_BEFORE)


def test_columns_are_not_renamed_while_the_version_that_uses_them_is_connected(postgresql: Server) -> None:
    with postgresql.database(is_empty=True) as url, closing(Store(url)) as store:
        migrated(store, command.upgrade, "0006")
        older = create_engine(store.url, connect_args={"application_name": "foldline"})
        with older.connect(), pytest.raises(CommandFailed, match=r"0\.1 are connected .*1 connections.*Stop them"):
            migrate(url)
        assert migrations.schema_of(store.engine).revision == "0006"
        older.dispose()
        eventually(lambda: migrate(url).revision == "0006")
        assert standing(store) is Standing.SAME


def test_of_many_that_migrate_at_once_one_does_the_work(url: str) -> None:
    start = Barrier(PROGRAMS)
    with ThreadPoolExecutor(PROGRAMS) as pool:
        found = list(pool.map(lambda _: upgraded(url, start), range(PROGRAMS)))
    assert sorted(found) == ["empty", *["same"] * (PROGRAMS - 1)]


def test_a_newer_schema_is_left_alone(store: Store) -> None:
    migrations.upgrade(store.engine)
    at(store, "9999")
    assert standing(store) is Standing.NEWER
    with pytest.raises(NewerSchema, match=r"newer version of Foldline \(revision 9999\).*Install the newer version"):
        migrations.upgrade(store.engine)
    assert migrations.schema_of(store.engine).revision == "9999"


def test_a_revision_is_known_by_its_whole_name() -> None:
    known = ("0002", "0001")
    stands = {revision: Schema(revision, known).standing.value for revision in (None, "0001", "0002", "000", "0003")}
    assert stands == {None: "empty", "0001": "older", "0002": "same", "000": "newer", "0003": "newer"}


def test_a_process_that_does_not_migrate_refuses_a_schema_it_cannot_work_with(store: Store) -> None:
    with pytest.raises(CommandFailed, match=r"is empty; this version needs .*run `foldline migrate`"):
        check_schema(store)
    first = first_tables(store)
    with pytest.raises(CommandFailed, match=rf"is at revision {first}; this version needs .*run `foldline migrate`"):
        check_schema(store)


def test_a_process_that_does_not_migrate_takes_a_newer_schema_and_says_so(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    migrations.upgrade(store.engine)
    with caplog.at_level(logging.WARNING):
        check_schema(store)
        assert not caplog.messages
        at(store, "9999")
        check_schema(store)
    assert ["revision 9999" in message for message in caplog.messages] == [True]


def test_a_command_that_migrates_refuses_a_newer_schema_in_one_line(store: Store, url: str) -> None:
    migrations.upgrade(store.engine)
    at(store, "9999")
    with pytest.raises(CommandFailed, match="Install the newer version"):
        migrate(url)
