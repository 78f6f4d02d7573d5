"""With keys, what was said is nowhere to be read in the database, and everything works as without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import pytest
from sqlalchemy import Column, ColumnElement, LargeBinary, MetaData, select, type_coerce

from foldline.engine.recall.visibility import OutOfView
from foldline.log.errors import DamagedValue, SealingKeyMissing
from foldline.log.jobs import indexing, sweeps
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.sealing import encrypting, pages
from foldline.log.sealing.cipher import MARK, Cipher
from foldline.log.sealing.encrypting import encrypt_all, rows_of
from foldline.log.sealing.key_check import check_keys
from foldline.log.storage.passages import PASSAGE
from foldline.log.storage.store import KEYS_KNOWN_SECONDS, Store
from foldline.log.storage.tables import ENTRY, JOB, SESSION
from foldline.telemetry.health import PartState, database_state
from tests.integration.log.test_recall import found, recall
from tests.support.log.sessions import Scene, assert_consistent, open_store, user, words
from tests.support.processes.databases import sqlite_database

OLD, NEW = Cipher([b"o" * 32]), Cipher([b"n" * 32, b"o" * 32])
ONLY_NEW: Final = Cipher([b"n" * 32])
# Words that are said, called, answered, summarized, pinned and instructed.
CANARIES: Final = ("zebrafish", "xylophone", "quicksilver", "wolverine", "mandrake", "juniper")


def talk(scene: Scene) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"path": "xylophone.py"}'}}
    scene.append(
        {"role": "user", "content": "Never feed the zebrafish. " + words(150)},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "quicksilver " + words(150)},
        user(250),
    )
    scene.pin(5)
    scene.compact(target_tokens=330, instructions="Keep the juniper.")
    claim = scene.claimed()
    assert scene.publish(claim, 8, " wolverine") == "succeeded"


def new_scene(store: Store) -> Scene:
    scene = Scene(store, system="You are a mandrake.")
    talk(scene)
    return scene


def stored(store: Store) -> str:
    """Every value of every table as it is stored, recall's index included."""
    metadata = MetaData()
    metadata.reflect(store.engine)
    with store.read() as tx:
        rows = [tuple(row) for table in metadata.tables.values() for row in tx.execute(select(table))]
    return "\n".join(
        bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)
        for row in rows
        for value in row
    )


def readable(store: Store) -> set[str]:
    dumped = stored(store)
    return {word for word in CANARIES if word in dumped}


@pytest.fixture
def sealed(database: str) -> Iterator[Store]:
    with open_store(database, cipher=OLD) as opened:
        yield opened


def seen(scene: Scene) -> tuple[Any, ...]:
    return scene.layout, scene.wire(must_fit=False), scene.entries, scene.used


def test_nothing_that_was_said_can_be_read_in_a_sealed_database(sealed: Store) -> None:
    scene = new_scene(sealed)
    assert {passage.out_of_view for passage in recall(scene, "zebrafish").quotes.passages} == {OutOfView.SUMMARIZED}
    assert readable(sealed) == set()
    assert MARK.decode("latin-1") in stored(sealed)
    assert_consistent(scene)


def test_without_keys_all_of_it_can_be_read(store: Store) -> None:
    found(new_scene(store), "zebrafish")
    assert readable(store) == set(CANARIES)


def test_a_sealed_session_is_as_one_that_is_not(sealed: Store) -> None:
    with sqlite_database() as url, open_store(url) as store:
        plain, hidden = new_scene(store), new_scene(sealed)
        for scene in (plain, hidden):
            scene.undo(scene.live[-1])
            scene.redo()
        assert seen(hidden) == seen(plain)
        assert found(hidden, "quicksilver") == found(plain, "quicksilver") != []


@pytest.mark.parametrize(("limit", "most"), [("ROWS_AT_ONCE", 3), ("PAGE_BYTES", 500)])
def test_older_values_are_read_and_encrypted_later(
    database: str, limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, limit, most)
    with open_store(database) as store:
        scene = new_scene(store)
        before, hits = seen(scene), found(scene, "zebrafish")
    with open_store(database, cipher=OLD) as store:
        scene.store = store
        assert seen(scene) == before
        number, advanced = rows_of(store), list[int]()
        assert 0 < encrypt_all(store, OLD, advanced.append) <= number == sum(advanced)
        assert readable(store) == set()
        assert (seen(scene), found(scene, "zebrafish")) == (before, hits)
        assert readable(store) == set()
        assert encrypt_all(store, OLD, advanced.append) == 0
        assert_consistent(scene)


def test_a_new_key_takes_over_and_the_old_one_is_not_needed_afterwards(database: str, caplog: Any) -> None:
    with open_store(database, cipher=OLD) as store:
        check_keys(store)
        scene = new_scene(store)
        before, hits = seen(scene), found(scene, "zebrafish")
    with open_store(database, cipher=NEW) as store:
        check_keys(store)
        assert "run `foldline encrypt`" in caplog.text
        assert encrypt_all(store, NEW, lambda _rows: None) > 0
    caplog.clear()
    with open_store(database, cipher=ONLY_NEW) as store:
        check_keys(store)
        scene.store = store
        assert (seen(scene), found(scene, "zebrafish"), caplog.text) == (before, hits, "")


def test_a_damaged_value_does_not_keep_the_others_from_a_new_key(database: str) -> None:
    with open_store(database, cipher=OLD) as store:
        good, bad = Scene(store, id="good"), Scene(store, id="bad")
        damage(store, SESSION.c.tools, SESSION.c.id == bad.id)
    with open_store(database, cipher=NEW) as store:
        encrypt_all(store, NEW, lambda _rows: None)
    with open_store(database, cipher=ONLY_NEW) as store:
        good.store = store
        assert good.path.messages == 0


@pytest.mark.parametrize("cipher", [None, ONLY_NEW])
def test_a_process_without_the_key_is_refused(database: str, cipher: Cipher | None) -> None:
    with open_store(database, cipher=OLD) as store:
        check_keys(store)
    with open_store(database, cipher=cipher) as store, pytest.raises(SealingKeyMissing, match=OLD.first):
        check_keys(store)


def damage(store: Store, column: Column[Any], condition: ColumnElement[bool]) -> None:
    """Change the last byte of one value."""
    with store.write() as tx:
        whole = bytes(tx.execute(select(type_coerce(column, LargeBinary)).where(condition)).scalars().first())
        broken = type_coerce(whole[:-1] + bytes([whole[-1] ^ 1]), LargeBinary)
        tx.execute(column.table.update().where(condition).values({column: broken}))


@pytest.mark.parametrize("cipher", [None, OLD])
def test_a_process_without_a_new_key_writes_nothing_more(database: str, cipher: Cipher | None, caplog: Any) -> None:
    seconds = 0.0
    with (
        open_store(database, cipher=cipher) as before,
        open_store(database, cipher=ONLY_NEW if cipher is None else NEW) as store,
    ):
        before.stopwatch = lambda: seconds
        scene = Scene(before)
        scene.append(user(5))
        check_keys(store)
        scene.append(user(5))
        seconds += KEYS_KNOWN_SECONDS
        for _ in range(2):
            with pytest.raises(SealingKeyMissing):
                scene.append(user(5))
            with pytest.raises(SealingKeyMissing):
                Scene(before)
        caplog.clear()
        check_keys(store)
        assert "run `foldline encrypt`" in caplog.text


def test_values_in_a_new_session_are_noticed_too(database: str, caplog: Any) -> None:
    with open_store(database, cipher=OLD) as store, open_store(database) as other:
        Scene(store)
        Scene(other, id="later")
        check_keys(store)
    assert "run `foldline encrypt`" in caplog.text


def test_a_value_that_was_changed_is_not_believed(sealed: Store) -> None:
    scene = new_scene(sealed)
    damage(sealed, SESSION.c.tools, SESSION.c.id == scene.id)
    with pytest.raises(DamagedValue):
        _ = scene.path


def test_what_was_damaged_holds_up_nothing_else(sealed: Store) -> None:
    scenes = {name: Scene(sealed, id=name, tenant=name) for name in ("policy", "job", "body", "good")}
    for scene in scenes.values():
        scene.append(user(200), user(200), user(200))
        scene.compact(target_tokens=250)
    damage(sealed, SESSION.c.policy, SESSION.c.tenant == "policy")
    damage(sealed, JOB.c.parameters, JOB.c.tenant == "job")
    damage(sealed, ENTRY.c.body, ENTRY.c.tenant == "body")
    good = scenes["good"]
    with suppress(ClaimDeferred):
        while good.claim():
            pass
    assert good.states == ["running"]
    with sealed.read() as tx:
        errors = {job.tenant: job.error for job in tx.execute(select(JOB.c.tenant, JOB.c.error))}
    assert {tenant for tenant, error in errors.items() if error} == {"policy", "job", "body"}
    assert all("an encrypted value was changed" in error for error in errors.values() if error)
    while sweeps.sweep(sealed):
        pass
    assert indexing.index_session(sealed, good.tenant, good.id, 0)


@pytest.mark.parametrize("cipher", [None, ONLY_NEW])
def test_a_process_without_the_key_takes_nothing_for_unreadable(database: str, cipher: Cipher | None) -> None:
    with open_store(database, cipher=OLD) as store:
        check_keys(store)
        scene = Scene(store)
        scene.append(user(300), user(300), user(300))
        scene.compact(target_tokens=400)
        states = scene.states
    with open_store(database, cipher=cipher) as store:
        assert database_state(store) is PartState.KEY_MISSING
        scene.store = store
        for work in (scene.claim, lambda: sweeps.sweep(store)):
            with pytest.raises(SealingKeyMissing):
                work()
    with open_store(database, cipher=OLD) as store:
        scene.store = store
        assert scene.states == states == ["queued"]
        assert database_state(store) is PartState.OK


def test_an_encryption_that_was_broken_off_is_finished_by_the_next(database: str, monkeypatch: Any) -> None:
    with open_store(database) as store:
        scene = new_scene(store)
        found(scene, "zebrafish")
    with open_store(database, cipher=OLD) as store:
        with monkeypatch.context() as patched:
            patched.setattr(encrypting, "forget_terms", broken_off)
            with pytest.raises(KeyboardInterrupt):
                encrypt_all(store, OLD, lambda _rows: None)
        encrypt_all(store, OLD, lambda _rows: None)
        assert readable(store) == set()


def broken_off(_store: Store) -> None:
    raise KeyboardInterrupt


def test_a_word_is_another_one_in_each_session(sealed: Store) -> None:
    scenes = [Scene(sealed, id=name) for name in ("one", "two")]
    for scene in scenes:
        scene.append({"role": "user", "content": "zebrafish"})
        indexing.index_session(sealed, scene.tenant, scene.id, 10)
    with sealed.read() as tx:
        hidden = [str(terms).replace(f"{scene.path.session.pk}_", "") for scene, terms in zip(
            scenes, tx.execute(select(PASSAGE.c.terms).order_by(PASSAGE.c.session_pk)).scalars(), strict=True
        )]  # fmt: skip
    assert len({*hidden}) == 2


def test_what_is_said_while_older_values_are_encrypted_stays(database: str) -> None:
    with open_store(database) as store:
        scene = new_scene(store)
    with open_store(database, cipher=OLD) as store:
        scene.store = store

        def meanwhile(_rows: int) -> None:
            scene.append(user(1))
            indexing.index_session(store, scene.tenant, scene.id, 1_000)

        encrypt_all(store, OLD, meanwhile)
        assert readable(store) == set()
        assert found(scene, "zebrafish") != []
        assert_consistent(scene)
        with store.read() as tx:
            rows = tx.execute(select(type_coerce(ENTRY.c.body, LargeBinary))).scalars()
            assert all(OLD.is_newest(bytes(body)) for body in rows)
