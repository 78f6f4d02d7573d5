"""Creating, changing and deleting sessions."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.errors import FixedPartsDoNotFit, InvalidPolicy, UnknownModel
from foldline.log.errors import Conflict, NotFound, StaleVersion
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import entries, history, lifecycle, pins, views
from foldline.log.use_cases.lifecycle import NewSession
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Clock, Scene, assistant, turns, user, words

MODEL = "openai/gpt-4o"


def create(store: Store, **more: Any) -> None:
    with store.write() as tx:
        lifecycle.create(tx, TENANT, NewSession(**{"model": MODEL, **more}))


def listed(store: Store, tenant: str = TENANT, after: int = 0, limit: int = 10) -> list[str]:
    with store.read() as tx:
        return [path.session.id for path in lifecycle.list_sessions(tx, tenant, after, limit).items]


def change(scene: Scene, if_match: int | None = None, **changes: Any) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, TENANT, scene.id, changes, if_match=if_match)


def delete(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)


def test_a_new_session_gets_an_id_if_it_is_given_none(store: Store) -> None:
    create(store)
    assert listed(store) == ["s_1"]


def test_an_id_is_used_once_by_a_tenant_and_again_by_another(store: Store) -> None:
    create(store, id="mine")
    with pytest.raises(Conflict):
        create(store, id="mine")
    with store.write() as tx:
        lifecycle.create(tx, "another", NewSession(MODEL, "mine"))
    assert (listed(store), listed(store, "another")) == (["mine"], ["mine"])


def test_the_session_that_got_a_message_last_is_first(new_scene: NewScene, clock: Clock) -> None:
    first, second, _ = (new_scene(id=name) for name in ("c", "a", "b"))
    spoken: list[list[str]] = []
    for scene in (second, first, second):
        clock.advance(1)
        scene.append(user(5))
        with scene.store.read() as tx:
            spoken.append([path.session.id for path in lifecycle.last_spoken(tx, TENANT, 2)])
    assert spoken == [["a", "b"], ["c", "a"], ["a", "c"]]
    with first.store.write() as tx:
        lifecycle.create(tx, TENANT, NewSession(MODEL, "deleted"))
        lifecycle.delete(tx, TENANT, "deleted")
        assert [path.session.id for path in lifecycle.last_spoken(tx, TENANT, 9)] == ["a", "c", "b"]
        assert lifecycle.last_spoken(tx, "another", 9) == []


def test_sessions_are_listed_oldest_first_from_a_cursor_on(store: Store) -> None:
    for name in ("c", "a", "b"):
        create(store, id=name)
    assert listed(store) == ["c", "a", "b"]
    assert listed(store, limit=2) == ["c", "a"]
    assert listed(store, after=2) == ["b"]


def test_a_list_of_sessions_with_large_texts_ends_early(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("c", "a", "b"):
        create(store, id=name, system=words(100))
    monkeypatch.setattr(lifecycle, "LIST_BYTES", 1500)
    with store.read() as tx:
        for after, names, has_more in ((0, ["c", "a"], True), (2, ["b"], False)):
            page = lifecycle.list_sessions(tx, TENANT, after, 10)
            assert ([path.session.id for path in page.items], page.next_position) == (
                names,
                after + 2 if has_more else None,
            )
        assert [path.session.id for path in lifecycle.last_spoken(tx, TENANT, 10)] == ["b", "a"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"model": "nobody/knows"}, UnknownModel),
        ({"context_window": "many"}, InvalidPolicy),
        ({"context_window": 0}, InvalidPolicy),
        ({"max_output_tokens": 128_000}, InvalidPolicy),
        ({"policy": {"preset": "none"}}, InvalidPolicy),
        ({"policy": {"trigger": 0.2}}, InvalidPolicy),
        ({"context_window": 400, "system": words(200)}, FixedPartsDoNotFit),
    ],
)
def test_a_session_that_could_not_work_is_not_created(store: Store, wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        create(store, **wrong)
    assert listed(store) == []


def test_a_window_may_be_given_as_people_write_it(store: Store) -> None:
    create(store, id="s", model="nobody/knows", context_window="128k")
    with store.read() as tx:
        session = lifecycle.list_sessions(tx, TENANT, 0, 1).items[0].session
    assert session.budget.window == 128_000


def test_a_leading_system_message_becomes_the_system_prompt_once(scene: Scene) -> None:
    first = scene.append({"role": "system", "content": words(20)}, user(20))
    assert first.entry_ids == ["e0-1"]
    assert scene.path.session.system == words(20)
    assert scene.used == 24 + 32
    second = scene.append({"role": "system", "content": words(20)})
    assert second.entry_ids == ["e0-2"]
    assert scene.wire()[0] == {"role": "system", "content": words(20)}


def test_a_leading_system_message_stays_a_message_if_there_is_a_system_prompt(new_scene: NewScene) -> None:
    scene = new_scene(system="Be brief.")
    assert scene.append({"role": "system", "content": "Be long."}).entry_ids == ["e0-1"]
    assert scene.path.session.system == "Be brief."


def test_a_leading_system_message_that_leaves_no_room_is_refused(scene: Scene) -> None:
    with pytest.raises(FixedPartsDoNotFit):
        scene.append({"role": "system", "content": words(600)}, user(20))
    assert scene.path.leaf_seq == 0
    assert scene.path.session.system is None


def test_a_change_counts_the_fixed_parts_anew(scene: Scene) -> None:
    scene.append(user(20))
    change(scene, system=words(30), tools=[{"type": "function", "function": {"name": "run"}}])
    session = scene.path.session
    assert session.fixed_tokens == 42 + session.tools_tokens
    assert session.tools_tokens > 8
    change(scene, system=None, tools=None)
    assert scene.path.session.fixed_tokens == 0


def test_a_change_that_could_not_work_changes_nothing(scene: Scene) -> None:
    before = scene.path.session
    for changes in ({"model": "nobody/knows", "context_window": None}, {"system": words(800)}, {"policy": {"x": 1}}):
        with pytest.raises((UnknownModel, FixedPartsDoNotFit, InvalidPolicy)):
            change(scene, **changes)
    assert scene.path.session == before


def test_a_change_of_another_version_is_refused(scene: Scene) -> None:
    with pytest.raises(StaleVersion):
        change(scene, if_match=scene.path.session.version + 1, system="x")


def test_a_policy_that_starts_earlier_compacts_at_once(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    change(scene, policy={"trigger": 0.5, "target": 0.3})
    assert scene.states == ["queued"]


def test_a_target_that_a_later_change_sets_above_the_trigger_is_refused(scene: Scene) -> None:
    change(scene, policy={"preset": "agent-code@program", "trigger": 0.7, "target": 0.5})
    with pytest.raises(InvalidPolicy, match="must not be above the trigger"):
        change(scene, policy={"target": 1.0})
    assert scene.path.session.policy.target == 0.5
    change(scene, policy={"trigger": 1.0, "target": 1.0})


def test_nothing_of_another_tenants_session_can_be_reached(scene: Scene) -> None:
    entry = scene.append(*turns(2, 20)).entry_ids[0]
    reads: list[Any] = [
        lambda tx: views.view(tx, "another", scene.id),
        lambda tx: entries.entries(tx, "another", scene.id, 0, 10),
        lambda tx: entries.entry(tx, "another", scene.id, entry),
        lambda tx: history.compactions(tx, "another", scene.id),
        lambda tx: pins.pins(tx, "another", scene.id),
        lambda tx: lifecycle.delete(tx, "another", scene.id),
        lambda tx: lifecycle.change(tx, "another", scene.id, {"system": "x"}),
    ]
    for read in reads:
        assert_not_found(scene.store, read)
    assert listed(scene.store, "another") == []


def assert_not_found(store: Store, act: Any) -> None:
    with pytest.raises(NotFound), store.write() as tx:
        act(tx)


def test_a_deleted_session_is_gone_and_its_id_is_free(scene: Scene) -> None:
    scene.append(user(20))
    delete(scene)
    assert listed(scene.store) == []

    def read(tx: Transaction) -> None:
        views.view(tx, TENANT, scene.id)

    assert_not_found(scene.store, read)
    again = Scene(scene.store)
    assert again.layout == []
    again.append(assistant(8))
    assert again.layout == ["batch 1"]
