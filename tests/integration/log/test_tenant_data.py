"""All that a tenant has: its export, page by page, and its deletion."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any, Final

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import func, make_url, select, update
from sqlmodel import SQLModel

from foldline.engine.wire import dumps
from foldline.log.access import api_keys, audit
from foldline.log.access.api_keys import KeyScope
from foldline.log.erasing import tenants
from foldline.log.erasing.purging import LOG_HELD, LOG_KEPT, SESSIONS_IN_USE, TABLES_KEPT, purge
from foldline.log.erasing.tenants import delete_tenant
from foldline.log.jobs import sweeps
from foldline.log.sealing import pages
from foldline.log.storage import idempotency
from foldline.log.storage.idempotency import Key, StoredResponse
from foldline.log.storage.passages import PASSAGE
from foldline.log.storage.store import Store
from foldline.log.storage.tables import ENTRY, IDEMPOTENCY, SESSION
from foldline.log.transfer.tenant_export import OF_SESSIONS, OF_TENANTS, PIECE_BYTES, export_tenant
from foldline.log.use_cases import lifecycle
from stack.services.postgresql import plain
from tests.support.eventually import eventually
from tests.support.log.sessions import TENANT, Clock, Scene, open_store, turns, user
from tests.support.processes.databases import Server

IS_OLDER: Final = (
    "SELECT modification < date_trunc('second', clock_timestamp()) FROM pg_ls_waldir() JOIN pg_replication_slots "
    "ON name = pg_walfile_name(restart_lsn) WHERE slot_name = %s"
)
# Hashes, and what belongs to no tenant.
NOT_SAID: Final = {"fingerprint", "breaker", "secret"}
OTHER: Final = "globex"


def exported(store: Store, tenant: str = TENANT) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(export_tenant(store, tenant)).splitlines()]


def new_session(store: Store, tenant: str, name: str) -> None:
    with store.write() as tx:
        lifecycle.create(tx, tenant, lifecycle.NewSession("openai/gpt-4o", name))
        answer = StoredResponse(201, {"Location": f"/sessions/{name}"}, b'{"id": 1}')
        idempotency.remember(tx, Key(tenant, "POST /sessions", name, "hash"), answer)


def count(store: Store, table: Any) -> int:
    with store.read() as tx:
        found: int = tx.execute(select(func.count()).select_from(table)).scalar_one()
    return found


def test_every_table_is_exported_or_has_nothing_that_a_tenant_said() -> None:
    tables = {SESSION, *OF_SESSIONS.values(), *OF_TENANTS.values()}
    assert {table.name for table in tables} | NOT_SAID == {*SQLModel.metadata.tables}


@pytest.mark.parametrize(("limit", "most"), [("ROWS_AT_ONCE", 3), ("PAGE_BYTES", 1), ("PAGE_BYTES", 1_000)])
def test_an_export_has_each_row_once_in_pages_and_nothing_of_others(
    limit: str, most: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, limit, most)
    scene = Scene(store)
    first, *_ = scene.append(*turns(7, 60)).entry_ids
    scene.work()
    scene.pin(10)
    scene.undo(scene.live[-1])
    scene.leave(first)
    scene.append(user(20))
    new_session(store, OTHER, "secret-of-others")
    lines = exported(store)
    assert [line["type"] for line in (lines[0], lines[1], lines[-1])] == ["tenant", "session", "end"]
    assert lines[-1]["lines"] == len(lines) - 1
    entries = [line for line in lines if line["type"] == "entry"]
    assert len({line["id"] for line in entries}) == len(entries) == count(store, ENTRY)
    assert {line["kind"] for line in entries} == {"message", "compaction", "undo"}
    assert {line["type"] for line in lines} >= {"branch", "summary", "job", "pin"}
    assert "others" not in str(lines)
    assert [line["id"] for line in exported(store, OTHER) if line["type"] == "session"] == ["secret-of-others"]


def test_what_is_no_json_is_exported_as_text(store: Store) -> None:
    with store.write() as tx:
        idempotency.remember(tx, Key(TENANT, "POST /x", "k", "hash"), StoredResponse(204, {}, b"not \xff json"))
    (answer,) = [line for line in exported(store) if line["type"] == "answer"]
    assert (answer["status"], answer["body"]) == (204, "not \ufffd json")


def test_an_export_comes_in_pieces_however_large_it_is(store: Store) -> None:
    scene = Scene(store, 1_000_000)
    for _ in range(40):
        scene.append(user(5_000))
    pieces = [*export_tenant(store, TENANT)]
    longest_line = max(map(len, b"".join(pieces).splitlines()))
    assert len(pieces) > 5
    assert max(map(len, pieces)) < PIECE_BYTES + longest_line + 100


def test_an_export_needs_no_more_memory_than_a_large_row_takes(store: Store) -> None:
    scene = Scene(store)
    scene.append(*[user(1)] * 48)
    large = dumps({"role": "user", "content": "x" * (1 << 20)})
    with store.write() as tx:
        tx.execute(update(ENTRY).values(body=large))
    tracemalloc.start()
    try:
        size = sum(map(len, export_tenant(store, TENANT)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 48 * len(large)
    # To read and write the JSON of one takes 17 times its size.
    assert peak < 30 * len(large)


def test_a_tenant_is_deleted_with_its_keys_and_answers_and_others_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenants, "SESSIONS_AT_ONCE", 2)
    for number in range(5):
        new_session(store, TENANT, f"s{number}")
    new_session(store, OTHER, "kept")
    with store.write() as tx:
        made, _ = api_keys.create(tx, TENANT, "of Zorba", [KeyScope.READ], None)
        others, _ = api_keys.create(tx, OTHER, "of Xenia", [KeyScope.READ], None)
    # A process may accept the key for some time still.
    monkeypatch.setattr(tenants, "sleep", lambda _seconds: new_session(store, TENANT, "late"))
    assert delete_tenant(store, TENANT, "me", with_keys=True) == (6, 1)
    sweeps.sweep(store)
    assert [line["type"] for line in exported(store)] == ["tenant", "key", "audit", "audit", "end"]
    assert "Zorba" not in str(exported(store))
    assert (count(store, SESSION), count(store, IDEMPOTENCY)) == (1, 1)
    with store.read() as tx:
        keys = {key.id: (key.name, key.revoked_at is None) for key in api_keys.list_keys(tx, None)}
        trail = [(line.actor, line.action, line.object_id) for line in audit.records(tx, TENANT, 0, 10)]
    assert keys == {made.id: ("-", False), others.id: ("of Xenia", True)}
    assert trail == [("me", "deleted", None), ("me", "revoked-key", made.id)]


def test_one_sweep_removes_many_small_sessions(store: Store) -> None:
    for number in range(40):
        scene = Scene(store, id=f"s{number}")
        scene.append(user(1))
    new_session(store, OTHER, "kept")
    sweeps.sweep(store)
    assert delete_tenant(store, TENANT, "me", with_keys=False) == (40, 0)
    sweeps.sweep(store)
    assert (count(store, ENTRY), count(store, PASSAGE), count(store, SESSION)) == (0, 0, 1)


def test_without_being_asked_keys_stay(store: Store) -> None:
    with store.write() as tx:
        made, _ = api_keys.create(tx, TENANT, "mine", [KeyScope.READ], None)
    assert delete_tenant(store, TENANT, "me", with_keys=False) == (0, 0)
    with store.read() as tx:
        (key,) = api_keys.list_keys(tx, TENANT)
    assert (key.id, key.name, key.revoked_at) == (made.id, "mine", None)


def test_a_purge_says_which_sessions_a_worker_may_still_read(store: Store, clock: Clock) -> None:
    scene = Scene(store)
    scene.append(*turns(12, 60))
    assert scene.claim() is not None
    delete_tenant(store, TENANT, "me", with_keys=False)
    assert purge(store) == [SESSIONS_IN_USE]
    clock.advance(store.limits.lease_seconds + 1)
    assert purge(store) == []
    assert count(store, SESSION) == 0


def test_a_purge_says_what_its_user_may_not_write_anew(postgresql: Server) -> None:
    with postgresql.database() as database, psycopg.connect(plain(database), autocommit=True) as administrator:
        role, secret = f"limited_{make_url(database).database}", "limited"
        name = sql.Identifier(role)
        administrator.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(name, secret))
        try:
            administrator.execute(sql.SQL("GRANT ALL ON ALL TABLES IN SCHEMA public TO {}").format(name))
            url = make_url(database).set(username=role, password=secret).render_as_string(hide_password=False)
            with open_store(url) as store:
                assert purge(store) == [TABLES_KEPT, LOG_KEPT]
        finally:
            administrator.execute(sql.SQL("DROP OWNED BY {}").format(name))
            administrator.execute(sql.SQL("DROP ROLE {}").format(name))


def test_a_purge_says_if_the_server_keeps_its_log(postgresql: Server) -> None:
    with postgresql.database() as database, psycopg.connect(plain(database), autocommit=True) as administrator:
        slot = str(make_url(database).database)
        administrator.execute("SELECT pg_create_physical_replication_slot(%s, true)", (slot,))
        try:
            # The slot keeps a file, which is as old as the second in which it was written.
            administrator.execute("SELECT pg_switch_wal()")
            eventually(lambda: administrator.execute(IS_OLDER, [slot]).fetchone() == (True,))
            with open_store(database) as store:
                assert purge(store) == [LOG_HELD]
        finally:
            administrator.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
        with open_store(database) as store:
            assert purge(store) == []
