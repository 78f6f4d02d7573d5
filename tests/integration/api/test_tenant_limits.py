"""The limits of a tenant and of its keys: above one the answer is 429, others notice nothing, the connection stays."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest

from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES
from foldline.log.storage.store import Limits
from tests.support.eventually import eventually
from tests.support.pi_files import answer, chain, file_of
from tests.support.pi_files import user as asks
from tests.support.processes.api import Api, Json, open_api, problem_of, user

ANN, BOB = "key-of-ann-0000000", "key-of-bob-0000000"
KEYS = f"ann:{ANN},bob:{BOB}"
NEW: Json = {"model": "nobody/nothing", "context_window": 4000}
DAY_SECONDS = 86_400
# At a limit of one a second, some of so many requests are refused on the slowest machine.
MANY = 200


@contextmanager
def limited(database: str, **settings: Any) -> Iterator[Api]:
    with open_api(database, api_keys=KEYS, **settings) as opened:
        yield opened


def asked(api: Api, key: str, method: str = "GET", path: str = "/sessions", **fields: Any) -> httpx.Response:
    return api.client.request(method, path, headers={"Authorization": f"Bearer {key}"}, **fields)


def refused(api: Api, key: str, method: str = "GET", path: str = "/sessions", **fields: Any) -> httpx.Response:
    """The first answer of many to the same request that is 429."""
    answers = (asked(api, key, method, path, **fields) for _ in range(MANY))
    return next(answer for answer in answers if answer.status_code == 429)


def facts(answer: httpx.Response) -> tuple[str, str, int, str]:
    problem = problem_of(answer)
    return problem["name"], problem["limit"], problem["value"], problem["setting"]


def stored_key(api: Api, tenant: str) -> str:
    with api.store.write() as tx:
        return api_keys.create(tx, tenant, "of a test", ALL_SCOPES)[1]


def counted(api: Api, limit: str) -> float:
    """How often the metrics say that a limit was met."""
    name = f'foldline_tenant_limited_total{{limit="{limit}"}} '
    return next(float(line.removeprefix(name)) for line in api.metrics.splitlines() if line.startswith(name))


def test_a_key_that_is_used_too_often_is_refused_and_the_tenants_others_are_not(database: str) -> None:
    with limited(database, key_requests_per_second=1) as api:
        first, second = (stored_key(api, "ann") for _ in range(2))
        answer = refused(api, first)
        assert facts(answer) == (
            "too-many-requests",
            "key_requests_per_second",
            1,
            "FOLDLINE_KEY_REQUESTS_PER_SECOND",
        )
        assert answer.headers["retry-after"] == "1"
        assert asked(api, second).status_code == 200
        eventually(lambda: asked(api, first).status_code == 200)
        assert counted(api, "key_requests_per_second") >= 1
        assert counted(api, "tenant_requests_per_second") == 0
        assert "ann" not in api.metrics


def test_all_keys_of_a_tenant_share_its_rate_and_other_tenants_have_their_own(database: str) -> None:
    with limited(database, tenant_requests_per_second=1) as api:
        keys = [stored_key(api, "ann") for _ in range(2)]
        statuses = [asked(api, keys[number % 2]).status_code for number in range(MANY)]
        assert {*statuses[::2], *statuses[1::2]} == {200, 429}
        assert facts(refused(api, keys[0]))[1:3] == ("tenant_requests_per_second", 1)
        assert asked(api, BOB).status_code == 200
        assert [api.client.get(path).status_code for path in ["/healthz"] * 9] == [200] * 9


def begun(api: Api, key: str, fields: str, body: str = "") -> socket.socket:
    """A connection on which a request has begun to arrive, with these fields and this part of its body."""
    connection = socket.create_connection((api.client.base_url.host, api.client.base_url.port or 80))
    head = f"POST /sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{fields}\r\n\r\n"
    connection.sendall(f"{head}{body}".encode())
    return connection


def half_sent(api: Api, key: str) -> socket.socket:
    return begun(api, key, "content-length: 9", "{")


def test_a_tenant_has_so_many_requests_at_a_time_and_each_counts_until_it_ends(database: str) -> None:
    with limited(database, tenant_concurrent_requests=2) as api:
        with half_sent(api, ANN), half_sent(api, ANN):
            eventually(lambda: asked(api, ANN).status_code == 429)
            answer = asked(api, ANN)
            assert facts(answer)[1:3] == ("tenant_concurrent_requests", 2)
            assert answer.headers["retry-after"] == "1"
            assert asked(api, BOB).status_code == 200
        eventually(lambda: asked(api, ANN).status_code == 200)


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_tenant_sends_so_many_bytes_a_day_and_reads_on_after_that(database: str, *, is_chunked: bool) -> None:
    raw = b'{"model": "nobody/nothing", "context_window": 4000}'
    content: Any = (lambda: iter([raw[:9], raw[9:]])) if is_chunked else (lambda: raw)
    with limited(database, tenant_body_bytes_per_day=3 * len(raw)) as api:
        answers = [asked(api, ANN, "POST", content=content()) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [201, 201, 201, 429, 429]
        assert facts(answers[-1])[1:3] == ("tenant_body_bytes_per_day", 3 * len(raw))
        assert 0 < int(answers[-1].headers["retry-after"]) <= DAY_SECONDS
        assert len(asked(api, ANN).json()["items"]) == 3
        assert asked(api, BOB, "POST", content=content()).status_code == 201


def test_what_is_announced_and_does_not_arrive_uses_up_nothing_of_the_day(database: str) -> None:
    with limited(database, tenant_body_bytes_per_day=1, max_body_bytes=1 << 20) as api:
        for _ in range(3):
            with begun(api, ANN, f"content-length: {1 << 60}") as connection, connection.makefile("rb") as answers:
                assert status_of(answers) == 413
        assert [asked(api, ANN, "POST", json=NEW).status_code for _ in range(2)] == [201, 429]


@pytest.mark.parametrize(("fields", "part"), [("content-length: 9", "{"), ("transfer-encoding: chunked", "1\r\n{\r\n")])
def test_who_hangs_up_in_the_middle_of_a_body_pays_for_what_arrived(database: str, fields: str, part: str) -> None:
    with limited(database, tenant_body_bytes_per_day=1) as api:
        with begun(api, ANN, fields, part):
            pass
        eventually(lambda: is_spent(api, ANN))
        assert not is_spent(api, BOB)


def is_spent(api: Api, key: str) -> bool:
    """Whether a request is refused before its body arrives, which never does."""
    with begun(api, key, "content-length: 9") as connection:
        connection.settimeout(0.2)
        with suppress(TimeoutError):
            return b" 429 " in connection.recv(99)
    return False


@pytest.mark.parametrize("size", [100, 4_000_000])
def test_the_connection_of_a_refused_request_is_used_for_the_next_one(database: str, size: int) -> None:
    with limited(database, tenant_body_bytes_per_day=1) as api:
        url = api.client.base_url
        with socket.create_connection((url.host, url.port or 80)) as connection, connection.makefile("rb") as answers:
            head = f"POST /sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\n"
            statuses = []
            for _ in range(3):
                connection.sendall(f"{head}content-length: {size}\r\n\r\n".encode() + b" " * size)
                statuses.append(status_of(answers))
            assert statuses == [422, 429, 429]
            connection.sendall(
                f"GET /sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\n\r\n".encode()
            )
            assert status_of(answers) == 200


def status_of(answers: Any) -> int:
    """The status of the next answer on a connection, which is read to its end."""
    status = int(answers.readline().split()[1])
    lines = iter(answers.readline, b"\r\n")
    headers = dict(line.decode().strip().lower().split(": ", 1) for line in lines)
    answers.read(int(headers["content-length"]))
    return status


def test_a_service_without_keys_has_no_limits_and_0_sets_none(database: str) -> None:
    with open_api(database, key_requests_per_second=1, tenant_body_bytes_per_day=1) as api:
        assert {api.client.post("/sessions", json=NEW).status_code for _ in range(9)} == {201}
    names = ("key_requests_per_second", "tenant_requests_per_second", "tenant_concurrent_requests")
    with limited(database, tenant_body_bytes_per_day=0, **dict.fromkeys(names, 0)) as api:
        assert {asked(api, ANN, "POST", json=NEW).status_code for _ in range(9)} == {201}


@pytest.fixture
def crowded(database: str) -> Iterator[Api]:
    """A service on which a tenant has two sessions and one live job at most."""
    with open_api(database, Limits(tenant_sessions=2, tenant_jobs=1)) as opened:
        yield opened


def test_a_tenant_has_so_many_sessions_until_it_deletes_one(crowded: Api) -> None:
    first, _ = crowded.session(), crowded.session()
    file = file_of(chain(asks("u1"), answer("a1")), id="imported")
    for path, body in (("/sessions", NEW), ("/import", {"file": file})):
        refusal = crowded.client.post(path, json=body)
        assert facts(refusal) == ("too-many-requests", "tenant_sessions", 2, "FOLDLINE_TENANT_SESSIONS")
        assert int(refusal.headers["retry-after"]) > 1
    assert len(crowded.get("/sessions")["items"]) == 2
    assert counted(crowded, "tenant_sessions") == 2
    crowded.call("DELETE", first, status=204)
    eventually(lambda: crowded.client.post("/sessions", json=NEW).status_code == 201)


def test_above_its_jobs_a_caller_is_refused_and_nothing_is_done(crowded: Api) -> None:
    first, second = crowded.session(auto_compact=False), crowded.session(auto_compact=False)
    for session in (first, second):
        crowded.say(session, *(user("so it goes on and on " * 20) for _ in range(6)))
    job = crowded.post(f"{first}/compact", {"summarize": True}, 202)["job"]["id"]
    assert crowded.post(f"{first}/compact", {"summarize": True}, 202)["job"]["id"] == job
    before = crowded.get(f"{second}/context")
    refusal = crowded.client.post(f"{second}/compact", json={"summarize": True})
    assert facts(refusal) == ("too-many-requests", "tenant_jobs", 1, "FOLDLINE_TENANT_JOBS")
    assert int(refusal.headers["retry-after"]) > 1
    assert (crowded.get(f"{second}/context"), crowded.get(f"{second}/jobs")["items"]) == (before, [])
    crowded.do_jobs()
    eventually(lambda: crowded.client.post(f"{second}/compact", json={"summarize": True}).status_code == 202)


def test_above_its_jobs_a_branch_summary_is_refused_and_the_head_stays(crowded: Api) -> None:
    first, second = crowded.session(auto_compact=False), crowded.session(auto_compact=False)
    words = [user("so it goes on and on " * 20) for _ in range(6)]
    entries = [crowded.say(session, *words)["entry_ids"] for session in (first, second)]
    crowded.post(f"{first}/compact", {"summarize": True}, 202)
    before = crowded.get(f"{second}/context")
    refusal = crowded.client.post(f"{second}/branch", json={"entry_id": entries[1][0], "summarize": True})
    assert facts(refusal)[1:3] == ("tenant_jobs", 1)
    assert crowded.get(f"{second}/context") == before
    crowded.post(f"{second}/branch", {"entry_id": entries[1][0]})


def test_above_its_jobs_an_append_works_and_says_why_no_summary_is_queued(crowded: Api) -> None:
    first, second = crowded.session(auto_compact=False), crowded.session()
    crowded.say(first, *(user("so it goes on and on " * 20) for _ in range(6)))
    crowded.post(f"{first}/compact", {"summarize": True}, 202)
    answers = crowded.fill(second, 20)
    reasons = {answer["not_compacted"]["reason"] for answer in answers if answer["not_compacted"]}
    assert "too_many_jobs" in reasons
    assert crowded.get(f"{second}/jobs")["items"] == []
    assert crowded.get(f"{second}/context")["budget"]["fits"]
    assert counted(crowded, "tenant_jobs") >= 1
