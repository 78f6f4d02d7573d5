"""The backlog of jobs and pending tokens, over all sessions."""

from __future__ import annotations

from sqlalchemy import update

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.jobs import endings
from foldline.log.jobs.backlog import Backlog, Queue, backlog
from foldline.log.storage.store import Store
from foldline.log.storage.tables import JOB
from foldline.log.use_cases import lifecycle
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Clock, Scene, turns, user


def waiting(store: Store) -> Backlog:
    with store.read() as tx:
        return backlog(tx)


def test_nothing_waits_in_an_empty_log(store: Store) -> None:
    assert waiting(store) == Backlog({INTERACTIVE: Queue(), BACKGROUND: Queue()}, 0)


def test_jobs_are_counted_by_queue_with_the_age_of_the_oldest(new_scene: NewScene, clock: Clock) -> None:
    first, second = new_scene(), new_scene(id="t")
    first.append(*turns(7, 60))
    clock.advance(5)
    second.append(*turns(7, 60))
    clock.advance(2)
    assert waiting(first.store).queues[BACKGROUND] == Queue(queued=2, load=2, oldest_seconds=7.0)
    first.claimed()
    assert waiting(first.store).queues[BACKGROUND] == Queue(queued=1, running=1, load=2, oldest_seconds=2.0)
    assert waiting(first.store).queues[INTERACTIVE] == Queue()


def test_a_job_that_is_held_back_is_no_work_for_workers_until_its_time(scene: Scene, clock: Clock) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    endings.fail(scene.store, claim, "it broke")
    clock.advance(31)
    scene.append(user(20))
    with scene.store.write() as tx:
        tx.execute(update(JOB).where(JOB.c.state == "queued").values(not_before=tx.now + 10_000))
    assert waiting(scene.store).queues[BACKGROUND] == Queue(queued=1)
    clock.advance(13)
    assert waiting(scene.store).queues[BACKGROUND] == Queue(queued=1, load=1, oldest_seconds=3.0)


def test_a_job_behind_another_of_its_branch_is_no_work_for_workers_yet(scene: Scene, clock: Clock) -> None:
    scene.append(*turns(7, 60))
    scene.claimed()
    scene.compact(instructions="keep the names")
    clock.advance(30)
    assert scene.states == ["running", "queued"]
    assert waiting(scene.store).queues[INTERACTIVE] == Queue(queued=1)


def test_pending_tokens_are_summed_over_the_heads_of_live_sessions(store: Store) -> None:
    first, second = Scene(store), Scene(store, id="t")
    for scene in (first, second):
        scene.append(*turns(12, 60))
    pending = [scene.path.pending_tokens for scene in (first, second)]
    assert min(pending) > 0
    assert waiting(first.store).pending_tokens == sum(pending)
    with first.store.write() as tx:
        lifecycle.delete(tx, TENANT, "t")
    assert waiting(first.store).pending_tokens == pending[0]
