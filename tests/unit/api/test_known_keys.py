"""What a process remembers of keys, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest
from foldline_api.http import known_keys
from foldline_api.http.known_keys import KNOWN_SECONDS, KNOWN_SECONDS_MAX, KnownKeys
from foldline_api.http.problems import Unauthorized
from sqlalchemy import event

from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES
from foldline.log.errors import Unavailable
from foldline.log.storage.store import Store
from foldline.settings import Settings
from tests.support.moved_time import MovedTime


@pytest.fixture
def time(store: Store) -> MovedTime:
    store.stopwatch = MovedTime()
    return store.stopwatch


@pytest.fixture
def keys(store: Store) -> KnownKeys:
    return KnownKeys.of(Settings(), store)


def created(store: Store) -> str:
    with store.write() as tx:
        return api_keys.create(tx, "ann", "of a test", ALL_SCOPES)[1]


def tenant_of(keys: KnownKeys, key: str) -> str:
    return anyio.run(keys.caller, key).tenant


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """The look-ups of the block."""
    found: list[str] = []
    with store.read() as tx:
        engine = tx.connection.engine

    def note(*given: object) -> None:
        found.append(str(given[2]))

    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


@contextmanager
def away(store: Store) -> Iterator[None]:
    """A database without the table."""
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE api_key RENAME TO elsewhere")
    yield
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO api_key")


def test_a_key_is_looked_up_once_in_a_while(store: Store, keys: KnownKeys, time: MovedTime) -> None:
    key = created(store)
    with counted(store) as look_ups:
        for _ in range(5):
            assert tenant_of(keys, key) == "ann"
        assert len(look_ups) == 1
        time.now += KNOWN_SECONDS
        tenant_of(keys, key)
        assert len(look_ups) == 2


def test_what_has_not_the_form_of_a_key_is_not_looked_up(store: Store, keys: KnownKeys) -> None:
    key = created(store)
    with counted(store) as look_ups:
        for other in ("", "key", key[:-1], f"{key}\0", key.upper()):
            with pytest.raises(Unauthorized):
                tenant_of(keys, other)
    assert look_ups == []


def test_a_wrong_key_costs_what_an_unknown_one_does_and_is_not_remembered(store: Store, keys: KnownKeys) -> None:
    key = created(store)
    for other in (f"{key[:-64]}{'0' * 64}", f"fl_{'0' * 24}_{'0' * 64}"):
        with counted(store) as look_ups:
            for _ in range(2):
                with pytest.raises(Unauthorized):
                    tenant_of(keys, other)
        assert len(look_ups) == 2
        assert len(set(look_ups)) == 1


def test_while_the_database_is_away_a_good_key_stays_good_for_some_time(
    store: Store, keys: KnownKeys, time: MovedTime
) -> None:
    key, other = created(store), created(store)
    tenant_of(keys, key)
    with away(store):
        time.now += KNOWN_SECONDS_MAX
        assert tenant_of(keys, key) == "ann"
        with pytest.raises(Unavailable):
            tenant_of(keys, other)
        time.now += 2 * KNOWN_SECONDS
        with pytest.raises(Unavailable):
            tenant_of(keys, key)
    assert tenant_of(keys, other) == "ann"


def test_few_keys_are_remembered(store: Store, keys: KnownKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_keys, "KNOWN_MAX", 2)
    one, *others = (created(store) for _ in range(3))
    for key in (one, *others):
        tenant_of(keys, key)
    with counted(store) as look_ups:
        for key in others:
            tenant_of(keys, key)
        assert look_ups == []
        tenant_of(keys, one)
        assert len(look_ups) == 1


def test_a_service_that_others_reach_needs_keys_before_it_has_read_any(store: Store) -> None:
    assert KnownKeys.of(Settings(host="192.0.2.1"), store).are_needed
    assert not KnownKeys.of(Settings(), store).are_needed
