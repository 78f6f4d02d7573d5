"""Processes that die or freeze and messages that are repeated: every job still ends, and is applied once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import text

from foldline.engine.tokens.counter import count_text
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.storage.store import Store
from stack.services.servers import postgres
from tests.support.eventually import eventually
from tests.support.processes.api import user
from tests.support.processes.databases import Server
from tests.support.processes.deployment import (
    LEASE_SECONDS,
    Deployment,
    append_surely,
    append_without_key,
    deployed,
    installed,
)
from tests.support.processes.http import client, items_of
from tests.support.processes.scripted_llm import slow

pytestmark = pytest.mark.timeout(300)

JOBS = 100
# Twice what a socket waits for an answer, and more.
FROZEN_SECONDS = 12.0
# Far below what a broker that does not answer would cost: its socket time-out is 5 s.
APPEND_SECONDS_MAX = 2.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Deployment]:
    with deployed(apis=2) as deployment:
        yield deployment


@pytest.fixture
def deployment(shared: Deployment) -> Iterator[Deployment]:
    """A deployment in which all processes run; it recovers after each test."""
    shared.wait_until_whole()
    shared.llm.requests.clear()
    shared.llm.disconnects = 0
    yield shared
    shared.wait_until_whole()


def running_job(deployment: Deployment, seconds: float) -> tuple[str, str]:
    """A session and its running job, with a summarizer that takes this long."""
    deployment.llm.script(slow(seconds))
    session = deployment.new_session()
    job_id = deployment.request_summary(session)
    eventually(lambda: deployment.calls == 1)
    assert deployment.job(job_id)["state"] == "running"
    return session, job_id


def job_on_one(deployment: Deployment, other: str) -> tuple[str, str]:
    """A session and its job, which runs on one worker for a minute; the other worker is idle."""
    deployment.stack[other].stop()
    session, job_id = running_job(deployment, 60)
    deployment.stack[other].start()
    deployment.stack[other].wait_until_ready()
    return session, job_id


def test_a_job_whose_worker_was_killed_in_mid_summary_runs_again_within_two_leases_and_is_applied_once(
    deployment: Deployment,
) -> None:
    session, job_id = job_on_one(deployment, other="worker-2")
    deployment.stack["worker-1"].kill()

    eventually(lambda: deployment.calls == 2, 2 * LEASE_SECONDS)

    assert deployment.wait_for(job_id, "succeeded")["attempts"] == 2
    assert deployment.summaries(session) == 1


def test_a_worker_that_is_killed_in_a_long_summary_loses_only_the_chunks_that_were_under_way(
    postgresql: Server, tmp_path: Path
) -> None:
    at_once, leaves = 3, 40
    settings = {
        "FOLDLINE_LEASE_SECONDS": str(2 * LEASE_SECONDS),
        "FOLDLINE_SWEEP_SECONDS": "1",
        "FOLDLINE_SUMMARIZER_WINDOW": "4000",
        "FOLDLINE_SUMMARIZER_CONCURRENCY": str(at_once),
        "FOLDLINE_SUMMARIZER_CALLS": "100",
    }
    with postgresql.database() as database, installed(tmp_path, database, **settings) as deployment:
        deployment.start("beat")
        first = deployment.start("worker")
        body: dict[str, Any] = {"model": "nobody/nothing", "context_window": 200_000, "auto_compact": False}
        body["policy"] = {"keep_recent": 1e-6}
        session = f"/sessions/{deployment.post('/sessions', body)['id']}"
        said = [user(f"Part {n}. " + "Then move the next module to its place. " * 200) for n in range(leaves)]
        deployment.post(f"{session}/messages", {"messages": [*said, user("go on")]})
        deployment.llm.default = slow(0.3)
        job_id = deployment.request_summary(session)
        eventually(lambda: deployment.llm.answered >= leaves // 2, 60)
        first.process.kill()
        deployment.start("worker")
        assert deployment.wait_for(job_id, "succeeded")["attempts"] == 2
        prompts = Counter(request.prompt for request in deployment.llm.requests)
        assert len(prompts) >= leaves
        assert sum(prompts.values()) - len(prompts) <= at_once
        assert max(count_text(prompt) for prompt in prompts) <= 4_000
        assert deployment.llm.most_at_once <= at_once + 1, "the killed worker's last calls may still be answered"


def test_a_stopped_worker_returns_its_job_at_once_and_leaves_no_call_running(deployment: Deployment) -> None:
    session, job_id = job_on_one(deployment, other="worker-2")
    deployment.stack["worker-1"].terminate()

    eventually(lambda: deployment.calls == 2, LEASE_SECONDS)

    eventually(lambda: deployment.llm.disconnects == 1)
    # Handed back is no attempt; taken back would be one.
    assert deployment.wait_for(job_id, "succeeded")["attempts"] == 1
    assert deployment.summaries(session) == 1


@contextmanager
def broker_restarts(deployment: Deployment) -> Iterator[None]:
    """It dies with all it holds, and comes back."""
    deployment.stack["broker"].kill()
    yield


@contextmanager
def broker_is_emptied(deployment: Deployment) -> Iterator[None]:
    """FLUSHALL, again and again."""
    enough = Event()

    def empty() -> None:
        with Redis.from_url(deployment.stack.broker_url) as redis:
            while not enough.wait(0.2):
                redis.flushall()

    thread = Thread(target=empty)
    thread.start()
    yield
    enough.set()
    thread.join()


@contextmanager
def broker_is_frozen(deployment: Deployment) -> Iterator[None]:
    """It accepts and never answers."""
    frozen = monotonic()
    deployment.stack["broker"].freeze()
    yield
    eventually(lambda: monotonic() - frozen > FROZEN_SECONDS, FROZEN_SECONDS + 1)
    deployment.stack["broker"].thaw()


@pytest.mark.parametrize(
    "fault", [broker_restarts, pytest.param(broker_is_emptied, marks=pytest.mark.thorough), broker_is_frozen]
)
def test_all_jobs_end_though_the_broker_fails_while_they_wait_and_appends_do_not_notice(
    deployment: Deployment, fault: Callable[[Deployment], Iterator[None]]
) -> None:
    deployment.llm.script(*[slow(0.2)] * JOBS)
    sessions = [deployment.new_session() for _ in range(JOBS)]
    live = deployment.new_session()
    jobs = [deployment.request_summary(session) for session in sessions]
    with fault(deployment):  # type: ignore[attr-defined]
        slowest = max(append_seconds(deployment, live) for _ in range(100))

    ended = deployment.wait_until_ended(jobs)

    assert {job["state"] for job in ended} == {"succeeded"}
    assert [deployment.summaries(session) for session in sessions] == [1] * JOBS
    assert slowest < APPEND_SECONDS_MAX


def append_seconds(deployment: Deployment, session: str) -> float:
    started = monotonic()
    deployment.post(f"{session}/messages", {"messages": [user("and then?")]})
    return monotonic() - started


def test_a_frozen_broker_makes_the_service_degraded_not_unready(deployment: Deployment) -> None:
    deployment.stack["broker"].freeze()
    try:
        started = monotonic()
        found = deployment.get("/readyz")
        # A second is what Kubernetes gives a probe; the rest is for a busy machine.
        assert monotonic() - started < 2
    finally:
        deployment.stack["broker"].thaw()
    assert (found["status"], found["database"]) == ("degraded", "ok")


def test_what_was_acknowledged_is_there_once_after_the_database_was_restarted(deployment: Deployment) -> None:
    session = deployment.new_session()
    before = len(messages_of(deployment, session))
    refusals: list[int] = []
    acknowledged: list[str] = []

    def append_all() -> None:
        for number in range(60):
            ids, refused = append_surely(
                [deployment.stack.api_url], session, [user(f"said {number}"), user("and more")]
            )
            acknowledged.extend(ids)
            refusals.append(refused)

    appending = Thread(target=append_all)
    appending.start()
    eventually(lambda: len(refusals) > 10)
    deployment.stack["database"].kill()
    appending.join()

    assert sum(refusals) > 0, "nobody noticed"
    assert [item["id"] for item in messages_of(deployment, session)[before:]] == acknowledged
    assert len(acknowledged) == 120
    assert deployment.wait_for(deployment.request_summary(session), "succeeded")


def test_what_was_acknowledged_is_there_once_though_the_process_that_took_it_was_killed(deployment: Deployment) -> None:
    session = deployment.new_session()
    before = len(messages_of(deployment, session))
    urls = [deployment.stack["api-1"].url, deployment.stack["api-2"].url]
    acknowledged: list[str] = []
    refusals: list[int] = []

    def append_all() -> None:
        for number in range(60):
            ids, refused = append_surely(urls, session, [user(f"said {number}"), user("and more")])
            acknowledged.extend(ids)
            refusals.append(refused)

    appending = Thread(target=append_all)
    appending.start()
    for _ in range(3):
        done = len(refusals)
        eventually(lambda done=done: len(refusals) > done + 5 or not appending.is_alive(), 60)  # type: ignore[misc]
        deployment.stack["api-1"].kill()
    appending.join()
    deployment.wait_until_whole()

    assert sum(refusals) > 0, "nobody noticed"
    assert [item["id"] for item in messages_of(deployment, session)[before:]] == acknowledged
    assert len(acknowledged) == 120


def test_what_may_be_repeated_without_a_key_is_there_once(deployment: Deployment) -> None:
    session = deployment.new_session()
    before = len(messages_of(deployment, session))
    outcomes: dict[str, bool] = {}
    repeats: list[int] = []

    def append_some(name: str) -> None:
        for number in range(60):
            said = f"{name} {number}"
            outcomes[said], repeated = append_without_key(deployment.stack.api_url, session, user(said))
            repeats.append(repeated)

    def is_any_alive() -> bool:
        return any(thread.is_alive() for thread in appending)

    appending = [Thread(target=append_some, args=(name,)) for name in "abcd"]
    for thread in appending:
        thread.start()
    for _ in range(3):
        done = len(repeats)
        eventually(lambda done=done: len(repeats) > done + 10 or not is_any_alive(), 60)  # type: ignore[misc]
        deployment.stack["database"].kill()
        eventually(lambda: deployment.stack["database"].is_ready, 60)
    for thread in appending:
        thread.join()
    deployment.wait_until_whole()

    assert sum(repeats) > 0, "nothing was repeated"
    there = Counter(item["message"]["content"] for item in messages_of(deployment, session)[before:])
    known = {said for said, is_known in outcomes.items() if is_known}
    assert known <= set(there) <= set(outcomes)
    assert set(there.values()) == {1}


def messages_of(deployment: Deployment, session: str) -> list[dict[str, Any]]:
    return [item for item in items_of(deployment.client, f"{session}/entries") if item["kind"] == "message"]


@contextmanager
def everything_said_twice(deployment: Deployment) -> Iterator[list[bytes]]:
    """Every message to a queue is sent once more, as soon as it was sent; the list has those that were."""
    doubled: list[bytes] = []
    with Redis.from_url(deployment.stack.broker_url) as watching, Redis.from_url(deployment.stack.broker_url) as saying:
        own = str(saying.client_info()["addr"])
        enough = Event()

        def double() -> None:
            with watching.monitor() as monitor:
                while not enough.is_set():
                    said = monitor.next_command()
                    name, *rest = said["command"].split(" ", 2)
                    if name == "LPUSH" and f"{said['client_address']}:{said['client_port']}" != own:
                        saying.lpush(rest[0], rest[1])
                        doubled.append(rest[0])

        thread = Thread(target=double)
        thread.start()
        yield doubled
        enough.set()
        saying.ping()
        thread.join()


def test_each_job_is_done_once_though_every_message_is_delivered_twice(deployment: Deployment) -> None:
    deployment.llm.script(*[slow(0.1)] * 20)
    sessions = [deployment.new_session() for _ in range(20)]
    with everything_said_twice(deployment) as doubled:
        jobs = [deployment.request_summary(session) for session in sessions]
        ended = deployment.wait_until_ended(jobs)

    assert [(job["state"], job["attempts"]) for job in ended] == [("succeeded", 1)] * 20
    assert [deployment.summaries(session) for session in sessions] == [1] * 20
    assert deployment.calls == 20
    assert len(doubled) > 5


def test_two_workers_that_are_notified_of_one_job_at_once_call_the_summarizer_once(deployment: Deployment) -> None:
    message = notification_seen(deployment)
    with Redis.from_url(deployment.stack.broker_url) as redis:
        for _ in range(5):
            deployment.llm.requests.clear()
            deployment.llm.script(slow(0.3))
            session = deployment.new_session()
            job_id = deployment.request_summary(session)
            redis.lpush(INTERACTIVE, *[message] * 8)
            assert deployment.wait_for(job_id, "succeeded")["attempts"] == 1
            assert deployment.calls == 1
            assert deployment.summaries(session) == 1


def notification_seen(deployment: Deployment) -> str:
    """A notification as the broker has it."""
    with Redis.from_url(deployment.stack.broker_url, decode_responses=True) as redis, redis.monitor() as monitor:
        job_id = deployment.request_summary(deployment.new_session())
        while not (said := monitor.next_command())["command"].startswith("LPUSH"):
            pass
    deployment.wait_for(job_id, "succeeded")
    return str(said["command"].split(" ", 2)[2])


def test_a_session_deleted_while_its_job_runs_ends_the_call_and_leaves_nothing(deployment: Deployment) -> None:
    session, job_id = running_job(deployment, 60)

    assert deployment.client.delete(session).status_code == 204

    assert deployment.client.get(f"/jobs/{job_id}").status_code == 404
    assert deployment.client.get(session).status_code == 404
    eventually(lambda: deployment.llm.disconnects == 1)
    # Its rows go in a sweep after the job's lease.
    eventually(lambda: deleted_sessions(deployment) == 0, 30)


def deleted_sessions(deployment: Deployment) -> int:
    store = Store(deployment.stack.database_url)
    try:
        with store.read() as tx:
            left: int = tx.execute(text("SELECT count(*) FROM session WHERE deleted_at IS NOT NULL")).scalar_one()
            return left
    finally:
        store.close()


def test_the_cheap_stages_carry_on_while_every_worker_is_gone(deployment: Deployment) -> None:
    for name in ("worker-1", "worker-2"):
        deployment.stack[name].stop()
    body = {"model": "nobody/nothing", "context_window": 2_000}
    session = f"/sessions/{deployment.post('/sessions', body)['id']}"
    for number in range(20):
        answer = deployment.post(f"{session}/messages", {"messages": [user(f"{number} " + "and so on " * 60)]})
        assert answer["budget"]["fits"]
    with client(deployment.stack.api_url) as connected:
        assert connected.get(f"{session}/context").status_code == 200
    assert deployment.get(f"{session}/stats")["pending_tokens"] > 0
    for name in ("worker-1", "worker-2"):
        deployment.stack[name].start()
    eventually(lambda: deployment.get(f"{session}/stats")["pending_tokens"] == 0, 60)


def test_a_summary_that_is_done_while_the_database_restarts_is_published_without_a_second_call(tmp_path: Path) -> None:
    with (
        postgres(is_own=True) as service,
        Server(service.url).database() as database,
        # The lease outlasts the restart, however busy the machine is.
        installed(tmp_path, database, FOLDLINE_LEASE_SECONDS="60") as deployment,
    ):
        deployment.start("worker")
        session, job_id = running_job(deployment, 1)
        service.stop()
        eventually(lambda: deployment.llm.answered == 1)
        service.start()
        deployment.wait_until_whole()

        assert deployment.wait_for(job_id, "succeeded")["attempts"] == 1
        assert deployment.calls == 1
        assert deployment.summaries(session) == 1
