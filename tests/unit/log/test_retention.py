"""Retention: which sessions are deleted for their age, when, and what finding them costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from sqlalchemy import event, insert, select, text

from foldline.log.access import audit
from foldline.log.jobs import retention, sweeps
from foldline.log.storage.store import Limits, Store
from foldline.log.storage.tables import SESSION
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import TENANT, Clock, Scene, assistant, open_store, turns, user
from tests.support.processes.databases import each_kind

database_kind = each_kind

DAY: Final = 86_400
LIMITS: Final = Limits(retention_days=30, retention_days_by_tenant={"brief": 2, "long": 300})


@pytest.fixture
def keeping(database: str, clock: Clock) -> Iterator[Store]:
    """A store of a service that deletes sessions after 30 days, and of two tenants after other times."""
    with open_store(database, limits=LIMITS, clock=clock) as opened:
        yield opened


def swept(store: Store) -> set[str]:
    """The ids of the sessions that there are after a sweep."""
    sweeps.sweep(store)
    with store.read() as tx:
        return set(tx.execute(select(SESSION.c.id).where(SESSION.c.deleted_at.is_(None))).scalars())


def keep_for(scene: Scene, days: int | None) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"retention_days": days})


def test_a_session_is_deleted_so_many_days_after_its_last_message(keeping: Store, clock: Clock) -> None:
    silent, going_on = (Scene(keeping, id=name) for name in ("silent", "going-on"))
    for scene in (silent, going_on):
        scene.append(user(5))
    for _ in range(2):
        clock.advance(29 * DAY)
        assert swept(keeping) >= {"going-on"}
        going_on.append(assistant(5), user(5))
    assert swept(keeping) == {"going-on"}
    clock.advance(30 * DAY)
    assert swept(keeping) == set()
    with keeping.read() as tx:
        lines = [(line.actor, line.session_id) for line in audit.records(tx, TENANT, 0, 10)]
    assert lines == [("retention", "silent"), ("retention", "going-on")]


def test_the_days_of_a_session_come_before_those_of_its_tenant_and_these_before_the_services(
    keeping: Store, clock: Clock
) -> None:
    for tenant, days in (("brief", None), ("brief", 3), ("long", None), ("long", 1), ("other", None), ("other", 200)):
        with keeping.write() as tx:
            named = f"{tenant}-{days}"
            lifecycle.create(tx, tenant, lifecycle.NewSession("openai/gpt-4o", id=named, retention_days=days))
    lives: dict[str, int] = {}
    before = 0
    for day in (1, 2, 3, 29, 30, 199, 200, 299, 300):
        clock.advance((day - before) * DAY)
        before = day
        lives.update(dict.fromkeys(swept(keeping), day + 1))
    assert lives | {"long-1": 1} == {
        "brief-None": 2,
        "brief-3": 3,
        "long-None": 300,
        "long-1": 1,
        "other-None": 30,
        "other-200": 200,
    }


def test_the_days_of_a_session_can_be_changed_and_taken_back(keeping: Store, clock: Clock) -> None:
    scene = Scene(keeping)
    clock.advance(20 * DAY)
    scene.append(user(5))
    keep_for(scene, 5)
    assert swept(keeping) == {scene.id}
    keep_for(scene, None)
    clock.advance(29 * DAY)
    assert swept(keeping) == {scene.id}
    clock.advance(DAY)
    assert swept(keeping) == set()


def test_a_session_with_a_live_job_is_kept(keeping: Store, clock: Clock) -> None:
    scene = Scene(keeping, 1_000)
    scene.append(*turns(12, 60))
    clock.advance(40 * DAY)
    assert swept(keeping) == {scene.id}
    scene.work()
    assert swept(keeping) == set()


def test_without_a_setting_only_sessions_with_days_of_their_own_are_deleted(store: Store, clock: Clock) -> None:
    kept, passing = (Scene(store, id=name) for name in ("kept", "passing"))
    keep_for(passing, 1)
    clock.advance(10_000 * DAY)
    assert swept(store) == {kept.id}


def test_sessions_of_a_former_version_are_looked_at_and_kept_for_as_long_as_others(
    keeping: Store, clock: Clock
) -> None:
    scene = Scene(keeping)
    clock.advance(29 * DAY)
    with keeping.write() as tx:
        tx.execute(text("UPDATE session SET quiet_since = 0"))
    assert swept(keeping) == {scene.id}
    clock.advance(DAY)
    assert swept(keeping) == set()


def test_what_is_due_is_found_by_an_index_and_each_session_is_looked_at_once(keeping: Store, clock: Clock) -> None:
    scene, others = Scene(keeping), 20 * retention.LOOKED_AT_ONCE
    with keeping.write() as tx:
        row = tx.execute(select(SESSION)).mappings().one()
        copies = [{**row, "pk": None, "id": f"s{number}", "quiet_since": 0} for number in range(others)]
        tx.execute(insert(SESSION), [{name: copy[name] for name in copy if name != "pk"} for copy in copies])
    clock.advance(DAY)
    assert swept(keeping) > {scene.id}
    with keeping.write() as tx:
        tx.execute(text("ANALYZE"))
    statements: list[tuple[str, Any]] = []
    event.listen(keeping.engine, "before_cursor_execute", lambda *call: statements.append(call[2:4]))
    for delete in (retention.delete_of_service, retention.delete_of_their_own):
        with keeping.write() as tx:
            assert not delete(tx)
    explain = "EXPLAIN QUERY PLAN" if keeping.is_sqlite else "EXPLAIN"
    with keeping.write() as tx:
        quietest, by_own = (
            str(tx.connection.exec_driver_sql(f"{explain} {sent}", values).all())
            for sent, values in list(statements)
            if "session" in sent
        )
    assert "session_quiet" in quietest
    assert "session_due" in by_own
    assert not re.search(r"SCAN session|Seq Scan on session", quietest + by_own)
