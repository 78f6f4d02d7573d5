"""Jobs of long sessions are read before their session is locked, and do what those of short ones do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from foldline.engine.outline import Outline
from foldline.log.errors import Busy
from foldline.log.jobs import claims, endings, publish
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.jobs.leases import Claim
from foldline.log.jobs.publish import CACHED_MILLISECONDS
from foldline.log.jobs.writing import preparing
from foldline.log.jobs.writing.preparing import OutlineAt
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import TENANT, Clock, Scene, Wire, batch, turns, user


@pytest.fixture(autouse=True)
def every_session_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "LONG", 0)


def after(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, happens: Callable[[], object]) -> None:
    """Have something happen right after what is read before the lock, once."""
    read, waiting = getattr(module, name), [happens]

    def reading(*given: Any) -> Any:
        found = read(*given)
        if waiting:
            waiting.pop()()
        return found

    monkeypatch.setattr(module, name, reading)


def fail(error: Exception) -> NoReturn:
    raise error


def reads_of(monkeypatch: pytest.MonkeyPatch, store: Store) -> list[str]:
    """Who reads whole outlines from now on: readers, or writers, who hold a lock."""
    read, reads = entry_log.outline, []

    def outline(tx: Transaction, *given: Any, **named: Any) -> Outline:
        reads.append("writer" if tx.connection.engine is store.engine else "reader")
        return read(tx, *given, **named)

    monkeypatch.setattr(entry_log, "outline", outline)
    return reads


def test_no_lock_is_held_while_a_job_is_read(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*turns(7, 60))
    reads = reads_of(monkeypatch, scene.store)
    assert scene.publish(scene.claimed()) == "succeeded"
    assert reads == ["reader", "reader"]


def test_what_is_said_while_a_job_is_read_is_said_after_its_claim(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.append(*turns(7, 60))
    leaf = scene.path.leaf_seq
    after(monkeypatch, claims, "prepare_unlocked", lambda: scene.append(user(10)))
    claim = scene.claimed()
    assert (claim.leaf_seq, scene.path.leaf_seq) == (leaf, leaf + 1)
    assert scene.publish(claim) == "succeeded"
    assert scene.layout[-1] == f"user {leaf + 1}"


def test_a_session_that_was_edited_meanwhile_is_read_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*batch("old", 250), *turns(5, 60))
    before = scene.path.edits_at
    after(monkeypatch, claims, "prepare_unlocked", lambda: scene.append(user(400)))
    reads = reads_of(monkeypatch, scene.store)
    claim = scene.claimed()
    assert scene.path.edits_at != before, "the append compacted"
    assert "writer" in reads
    assert scene.publish(claim) == "succeeded"


def test_a_session_that_is_deleted_meanwhile_has_no_job(
    new_scene: Callable[[], Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(new_scene().store, id="other")
    scene.append(*turns(7, 60))

    def delete() -> None:
        with scene.store.write() as tx:
            lifecycle.delete(tx, TENANT, scene.id)

    after(monkeypatch, claims, "prepare_unlocked", delete)
    assert scene.claim() is None


def test_who_claims_meanwhile_gets_another_job(new_scene: Callable[[], Scene], monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_scene()
    second = Scene(first.store, id="other")
    for scene in (first, second):
        scene.append(*turns(7, 60))
    others: list[Claim | None] = []
    after(monkeypatch, claims, "prepare_unlocked", lambda: others.extend([first.claim(), first.claim()]))
    claim = first.claimed()
    assert (first.states, second.states) == (["running"], ["running"])
    assert [claim.preparation.session_id, *(other and other.preparation.session_id for other in others)] == [
        "s", "other", None,
    ]  # fmt: skip


def test_a_job_that_is_cancelled_meanwhile_is_nobodys(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*turns(7, 60))

    def cancel() -> None:
        with scene.store.write() as tx:
            endings.cancel(tx, TENANT, scene.jobs[-1].id)
        raise LookupError("preset")

    after(monkeypatch, claims, "prepare_unlocked", cancel)
    assert scene.claim() is None
    assert scene.states == ["cancelled"]


def test_a_session_that_nobody_can_read_fails_its_job(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*turns(7, 60))
    after(monkeypatch, claims, "prepare_unlocked", lambda: fail(LookupError("preset")))
    assert scene.claim() is None
    assert scene.states == ["failed: this version cannot read the session: preset"]


@pytest.mark.parametrize(("error", "raised"), [(Busy("locked"), ClaimDeferred), (OSError("disk"), OSError)])
def test_a_job_that_cannot_be_claimed_now_waits_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, error: Exception, raised: type[Exception]
) -> None:
    scene.append(*turns(7, 60))
    after(monkeypatch, claims, "prepare_unlocked", lambda: fail(error))
    with pytest.raises(raised):
        scene.claim()
    assert scene.states == ["queued"]
    assert scene.publish(scene.claimed()) == "succeeded"


def test_nothing_is_prepared_for_a_kept_summary(
    new_scene: Callable[..., Scene], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = new_scene(1_000, policy={"awaits_change": True})
    scene.append(*turns(8, 100))
    assert scene.publish(scene.claimed()) == "queued", "it waits until its change to the view costs nothing"
    for module in (claims, preparing):
        monkeypatch.setattr(module, "preparation_of", None)
    clock.advance(CACHED_MILLISECONDS // 1000 + 1)
    assert scene.claim() is None
    assert scene.states == ["succeeded"]


def test_a_long_branch_that_was_left_is_read_before_the_lock(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*turns(4, 60))
    first = scene.entries[0]
    monkeypatch.setattr(preparing, "LONG", 5)
    scene.leave(first)
    reads = reads_of(monkeypatch, scene.store)
    claim = scene.claimed()
    assert claim.preparation.kind == "branch"
    assert set(reads) == {"reader"}


@pytest.mark.parametrize("said", [[user(10)], batch("new", 30), [user(10), *batch("new", 30), user(5)]])
def test_a_summary_is_published_on_what_was_said_meanwhile(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, said: list[Wire]
) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    before: list[Outline] = []

    def reading(*given: Any) -> OutlineAt | None:
        read = preparing.outline_before(*given)
        scene.append(*said)
        before.append(scene.outline)
        return read

    def publishing(tx: Transaction, path: Path, read: OutlineAt | None) -> Outline:
        now = preparing.outline_now(tx, path, read)
        assert now == before[0], "as it is when it is read now"
        return now

    monkeypatch.setattr(publish, "outline_before", reading)
    monkeypatch.setattr(publish, "outline_now", publishing)
    assert scene.publish(claim) == "succeeded"
    assert len(before) == 1
