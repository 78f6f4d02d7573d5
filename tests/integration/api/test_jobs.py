from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from time import monotonic

import pytest
from foldline_api.job_watch import Watch

from foldline.engine.wire import loads
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.errors import Unavailable
from foldline.log.job_state import JobState
from foldline.log.jobs import claims, endings, leases
from foldline.log.jobs.queries import Job
from tests.support.eventually import eventually
from tests.support.processes.api import Api, Json, open_api, problem_of
from tests.support.processes.http import client


@pytest.fixture
def job(api: Api) -> Json:
    """A job that waits, of a session of its own; older ones are done."""
    api.do_jobs()
    session = api.session(auto_compact=False)
    api.fill(session, turns=3)
    queued: Json = api.post(f"{session}/compact", {}, 202)["job"]
    return queued


def test_a_sessions_jobs_are_listed_oldest_first(api: Api, job: Json) -> None:
    path = f"/sessions/{job['session_id']}/jobs"
    api.call("DELETE", f"/jobs/{job['id']}")
    second = api.post(f"/sessions/{job['session_id']}/compact", {}, 202)["job"]
    page = api.get(f"{path}?limit=1")
    assert [item["id"] for item in page["items"]] == [job["id"]]
    rest = api.get(f"{path}?limit=1&cursor={page['next_cursor']}")
    assert [item["id"] for item in rest["items"]] == [second["id"]]
    assert rest["next_cursor"] is None


def test_a_job_is_cancelled_once(api: Api, job: Json) -> None:
    cancelled = api.call("DELETE", f"/jobs/{job['id']}")
    assert (cancelled["state"], cancelled["ended_at"] is None) == ("cancelled", False)
    assert api.problem("DELETE", f"/jobs/{job['id']}")["name"] == "conflict"
    assert api.do_jobs() == []


def test_events_show_each_change_and_end_with_the_job(api: Api, job: Json) -> None:
    events: list[Json] = []

    def listen() -> None:
        with api.client.stream("GET", f"/jobs/{job['id']}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            events.extend(
                loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: ")
            )

    with ThreadPoolExecutor() as pool:
        listening = pool.submit(listen)
        eventually(lambda: events)
        claim = claims.claim(api.store, INTERACTIVE)
        assert claim is not None
        eventually(lambda: len(events) == 2)
        assert leases.extend_leases(api.store, {claim.lease: 0.5})
        eventually(lambda: len(events) == 3)
        endings.fail(api.store, claim, "no luck")
        listening.result(10)
    reported = [(event["state"], event["progress"]) for event in events]
    assert reported == [("queued", 0.0), ("running", 0.0), ("running", 0.5), ("failed", 0.5)]
    assert events[-1] == api.get(f"/jobs/{job['id']}")


def test_events_of_an_ended_job_are_its_end(api: Api, job: Json) -> None:
    api.call("DELETE", f"/jobs/{job['id']}")
    stream = api.client.get(f"/jobs/{job['id']}/events")
    assert stream.text.count("event: job\n") == 1
    assert '"state":"cancelled"' in stream.text


def test_events_of_a_job_end_when_its_session_is_deleted(api: Api, job: Json) -> None:
    with ThreadPoolExecutor() as pool:
        listening = pool.submit(api.client.get, f"/jobs/{job['id']}/events")
        eventually(lambda: api.watch.waiting)
        api.call("DELETE", f"/sessions/{job['session_id']}", status=204)
        assert '"state":"cancelled"' in listening.result(10).text


def test_those_who_wait_hold_no_thread(database: str) -> None:
    with open_api(database, threads=2) as api, ThreadPoolExecutor(30) as pool:
        session = api.session(auto_compact=False)
        api.fill(session, turns=3)
        job_id = api.post(f"{session}/compact", {}, 202)["job"]["id"]
        waiting = [pool.submit(_wait, api, session) for _ in range(15)]
        listening = [pool.submit(api.client.get, f"/jobs/{job_id}/events") for _ in range(15)]
        eventually(lambda: api.watch.waiting == 30)
        started = monotonic()
        api.fill(session, turns=2)
        assert monotonic() - started < 5
        api.do_jobs()
        assert [future.result(10) for future in waiting] == [200] * 15
        assert all('"state":"succeeded"' in future.result(10).text for future in listening)


def _wait(api: Api, session: str) -> int:
    return api.client.post(f"{session}/compact", headers={"Prefer": "wait=30"}).status_code


def test_over_the_limit_nobody_else_can_wait(database: str) -> None:
    with open_api(database, job_waiters=1) as api, ThreadPoolExecutor() as pool:
        session = api.session(auto_compact=False)
        api.fill(session, turns=3)
        job_id = api.post(f"{session}/compact", {}, 202)["job"]["id"]
        listening = pool.submit(api.client.get, f"/jobs/{job_id}/events")
        eventually(lambda: api.watch.waiting == 1)
        refused = api.client.get(f"/jobs/{job_id}/events")
        assert (problem_of(refused)["name"], refused.status_code) == ("unavailable", 503)
        assert refused.headers["retry-after"]
        assert problem_of(refused)["setting"] == "FOLDLINE_JOB_WAITERS"
        unheard = api.client.post(f"{session}/compact", headers={"Prefer": "wait=20"})
        assert unheard.status_code == 202
        assert "preference-applied" not in unheard.headers
        api.call("DELETE", f"/jobs/{job_id}")
        assert listening.result(10).status_code == 200
        eventually(lambda: api.watch.waiting == 0)


def test_a_tenant_leaves_half_of_the_waiters_to_others() -> None:
    async def run() -> None:
        watch = Watch(lambda _ids: {"job_1": WAITING}, 2)
        async with aclosing(watch.changes("ours", WAITING)) as changes:
            await anext(changes)
            waiting = asyncio.create_task(anext(changes))
            await asyncio.sleep(0)
            assert (watch.waiting, watch.has_room("ours"), watch.has_room("theirs")) == (1, False, True)
            watch.stop()
            await asyncio.wait([waiting])
            assert not watch.has_room("theirs")

    asyncio.run(run())


def test_the_service_stops_while_clients_wait(database: str) -> None:
    with ThreadPoolExecutor() as pool, client() as fresh:
        with open_api(database) as api:
            session = api.session(auto_compact=False)
            api.fill(session, turns=3)
            job_id = api.post(f"{session}/compact", {}, 202)["job"]["id"]
            url = str(api.client.base_url).rstrip("/")
            listening = pool.submit(fresh.get, f"{url}/jobs/{job_id}/events")
            waiting = pool.submit(fresh.post, f"{url}{session}/compact", headers={"Prefer": "wait=30"})
            eventually(lambda: api.watch.waiting == 2)
            started = monotonic()
        assert monotonic() - started < 5
        assert '"state":"queued"' in listening.result().text
        assert waiting.result().status_code == 202


def test_a_client_that_leaves_is_forgotten(api: Api, job: Json) -> None:
    with api.client.stream("GET", f"/jobs/{job['id']}/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        eventually(lambda: api.watch.waiting)
    eventually(lambda: not api.watch.waiting)


WAITING = Job(1, "job_1", "s", "summary", JobState.QUEUED, 0, 0.0, None, None, None, 0, None, {})


def test_nobody_waits_forever_when_the_database_breaks() -> None:
    def broken(_ids: object) -> dict[str, Job]:
        raise RuntimeError

    async def run() -> None:
        assert await asyncio.wait_for(Watch(broken, 2).ended("ours", WAITING, 30), 5) == WAITING

    asyncio.run(run())


def test_a_job_that_is_gone_ends_its_events() -> None:
    async def run() -> None:
        assert [job async for job in Watch(lambda _ids: {}, 2).changes("ours", WAITING)] == [WAITING]

    asyncio.run(run())


def test_a_database_that_is_away_for_a_while_is_waited_for() -> None:
    ended = replace(WAITING, state=JobState.SUCCEEDED)
    answers: list[dict[str, Job]] = [{}, {}, {"job_1": ended}]

    def read(_ids: object) -> dict[str, Job]:
        answer = answers.pop(0)
        if not answer:
            raise Unavailable
        return answer

    async def run() -> None:
        assert [job async for job in Watch(read, 2).changes("ours", WAITING)] == [WAITING, ended]

    asyncio.run(run())


def test_a_job_that_does_not_change_is_sent_again_from_time_to_time() -> None:
    async def run() -> None:
        watch = Watch(lambda _ids: {"job_1": WAITING}, 2, repeat_seconds=0.01)
        async with aclosing(watch.changes("ours", WAITING)) as changes:
            assert [await anext(changes) for _ in range(3)] == [WAITING] * 3
        await watch.close()
        assert watch.waiting == 0

    asyncio.run(run())
