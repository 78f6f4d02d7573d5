"""Eight threads on one SQLite file, with summaries published in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest

from foldline.engine.formats import FORMATS
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log import events
from foldline.log.errors import Busy
from foldline.log.events import JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs import claims, publish
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.jobs.leases import Claim
from foldline.log.storage.store import Store
from foldline.log.use_cases import entries, views
from tests.support.log.race import (
    APPENDS,
    CLIENTS,
    assert_all_arrived,
    assert_valid_view,
    batch_of,
    run_clients,
)
from tests.support.log.sessions import QUEUES, Scene, assert_consistent, open_store, turns

LIMIT = 3_000


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with open_store(database) as store:
        yield store


def published(store: Store, claim: Claim, draft: SummaryDraft) -> JobState:
    """The state in which a job ended; like a worker, it tries again while the clients hold the session."""
    while True:
        with suppress(Busy):
            return publish.publish(store, claim, draft)


def claim_of(store: Store, queue: str) -> Claim | None:
    """The next job, however long its session is written to by others."""
    while True:
        try:
            return claims.claim(store, queue)
        except ClaimDeferred:
            continue


class Worker:
    """Publishes summaries on a thread of its own, as soon as jobs wait."""

    def __init__(self, store: Store) -> None:
        self.states: list[str] = []
        self._store = store
        self._notified, self._stopping = Event(), Event()
        self._thread = Thread(target=self._run, name="test-worker")
        store.subscribe(self._on_event)

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, JobWaits):
            self._notified.set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Works inside the block, and does what is left at its end."""
        self._thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            self._notified.set()
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._notified.wait()
            self._notified.clear()
            self._do_all()

    def _do_all(self) -> None:
        while (claim := next(filter(None, (claim_of(self._store, queue) for queue in QUEUES)), None)) is not None:
            draft = SummaryDraft(extractive.summarize(claim.request), degraded=False, summarizer="extractive")
            self.states.append(published(self._store, claim, draft))


def assert_view_is_valid(scene: Scene) -> None:
    with scene.store.read() as tx:
        view = views.view(tx, scene.tenant, scene.id)
    session = view.path.session
    for name in FORMATS:
        rendered = FORMATS[name].render(view.messages, session.system)
        assert_valid_view(name, rendered.messages, rendered.system, view.used, session.budget.limit)


def bodies(scene: Scene) -> list[object]:
    with scene.store.read() as tx:
        found = entries.entries(tx, scene.tenant, scene.id, 0, 10_000).items
    return [entry.body for entry in found if entry.kind == "message"]


def test_appends_of_eight_clients_into_one_session_arrive_whole_once_and_in_order_while_summaries_publish(
    store: Store,
) -> None:
    scene = Scene(store, LIMIT, system="Be brief.")
    worker = Worker(store)

    def append_all(client: int) -> None:
        for number in range(APPENDS // CLIENTS):
            scene.append(*batch_of(client, number))
            assert_view_is_valid(scene)

    with worker.working():
        run_clients(append_all)
    assert_all_arrived(bodies(scene))
    assert worker.states.count("succeeded") > 3
    # Appends that came first may have taken the room that a summary needs; no job may fail for anything else.
    assert set(scene.states) <= {"succeeded", "superseded", "failed: no-room"}
    assert_consistent(scene)
    assert_view_is_valid(scene)


def test_eight_threads_on_sessions_of_their_own_and_a_shared_one_do_not_disturb_each_other(store: Store) -> None:
    own = [Scene(store, 800, id=f"own-{number}") for number in range(CLIENTS)]
    shared = Scene(store, LIMIT, id="shared")
    worker = Worker(store)

    def live(client: int) -> None:
        scene = own[client]
        for _ in range(12):
            scene.append(*turns(1, 60))
            shared.append(*turns(1, 10))
            assert_view_is_valid(scene)
        scene.compact()
        for compaction in scene.live[-1:]:
            scene.undo(compaction)

    with worker.working():
        run_clients(live)
    for scene in (*own, shared):
        assert_consistent(scene)
        assert scene.path.messages == (CLIENTS * 24 if scene is shared else 24)


def test_two_workers_never_hold_the_same_job(store: Store) -> None:
    scenes = [Scene(store, 1_000, id=f"s{number}") for number in range(6)]
    for scene in scenes:
        scene.append(*turns(7, 60))
    taken: list[str] = []

    def take_all(_client: int) -> None:
        while (claim := claim_of(store, QUEUES[1])) is not None:
            taken.append(claim.job_id)

    run_clients(take_all)
    assert sorted(taken) == sorted({job.id for scene in scenes for job in scene.jobs})
