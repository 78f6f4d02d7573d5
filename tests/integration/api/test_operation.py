"""Probes, metrics, the service's description of itself, and what happens when the database is gone."""

from __future__ import annotations

import logging
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from foldline_api.app import create_app
from foldline_api.http.problems import PROBLEM_TYPES
from sqlalchemy import make_url, text

from foldline.engine.wire import loads
from foldline.log.storage import paths
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.health import PATIENCE_SECONDS
from stack.services.servers import postgres
from tests.support.eventually import eventually, eventually_gives
from tests.support.processes.api import Api, documented_routes, open_api, problem_of, user
from tests.support.processes.databases import Server, each_kind, sqlite_database
from tests.support.processes.http import client
from tests.support.processes.server import served

# They fail, wait and lock each in its own way.
database_kind = each_kind

SILENT = "does not answer"

# As the contract lists them.
PROBLEMS = (
    "malformed-json invalid-request not-found method-not-allowed conflict stale-version unknown-parent body-too-large "
    "body-too-slow limit-exceeded unknown-model fixed-parts-do-not-fit view-does-not-fit images-do-not-fit calls-open "
    "pin-too-large cannot-shrink redo-superseded idempotency-mismatch idempotency-in-flight unauthorized forbidden "
    "unavailable outcome-unknown too-many-requests"
)


def test_a_service_that_works_is_alive_and_ready(api: Api) -> None:
    assert api.get("/healthz") == {"status": "ok"}
    eventually_gives({"status": "ok", "database": "ok", "broker": "ok"}, lambda: api.client.get("/readyz").json())


def test_a_broker_that_is_away_is_named_and_stops_no_request(database: str) -> None:
    with open_api(database, broker_url="redis://127.0.0.1:1/0") as api:
        degraded = {"status": "degraded", "database": "ok", "broker": "does not answer"}
        eventually_gives(degraded, lambda: api.client.get("/readyz").json())
        api.fill(api.session(), turns=2)


def test_a_database_that_is_away_is_named_and_makes_requests_unavailable(database: str) -> None:
    with open_api(database) as api:
        session = api.session()
        with api.store.write() as tx:
            tx.execute(text("ALTER TABLE job RENAME TO elsewhere"))
            tx.execute(text("ALTER TABLE session RENAME TO also_elsewhere"))
        answer = api.client.get(session)
        assert (problem_of(answer)["name"], answer.status_code) == ("unavailable", 503)
        assert answer.headers["retry-after"]
        assert "table" not in answer.text
        unavailable = {"status": "unavailable", "database": "does not answer", "broker": "ok"}
        eventually_gives((503, unavailable), lambda: readiness(api))
        api.get("/healthz")


def test_a_file_that_was_deleted_under_the_service_is_named_and_nothing_is_stored() -> None:
    with sqlite_database() as database, open_api(database) as api:
        session = api.session()
        Path(make_url(database).database or "").unlink()
        answer = api.client.post(f"{session}/messages", json={"messages": [user("hello")]})
        assert (problem_of(answer)["name"], answer.status_code) == ("unavailable", 503)
        assert "deleted or replaced" in answer.json()["detail"]
        assert "retry-after" not in answer.headers
        gone = {"status": "unavailable", "database": "its file was deleted or replaced", "broker": "ok"}
        eventually_gives((503, gone), lambda: readiness(api))


def test_a_full_disk_is_named_until_there_is_room_again() -> None:
    with sqlite_database() as database, open_api(database) as api:
        session = api.session()

        def take_pages(most: int) -> None:
            with api.store.write() as tx:
                tx.connection.exec_driver_sql(f"PRAGMA max_page_count = {most}")

        def append() -> httpx.Response:
            return api.client.post(f"{session}/messages", json={"messages": [user("word " * 20_000)]})

        take_pages(1)
        answer = append()
        assert (problem_of(answer)["name"], answer.status_code) == ("unavailable", 503)
        assert "no room left on its disk" in answer.json()["detail"]
        full = {"status": "degraded", "database": "has no room left on its disk", "broker": "ok"}
        eventually_gives(full, lambda: api.client.get("/readyz").json())
        assert api.client.get(session).is_success
        take_pages(1 << 30)
        assert append().is_success
        eventually_gives("ok", lambda: api.client.get("/readyz").json()["status"])


def test_requests_that_wait_for_a_session_do_not_hold_up_the_readiness(database: str) -> None:
    with open_api(database, threads=2) as api, ThreadPoolExecutor(4) as pool:
        session = api.session()
        with api.store.write() as tx:
            paths.open_head(tx, "default", session.rpartition("/")[2], lock=True)
            appends = [pool.submit(api.say, session, user("hello")) for _ in range(4)]
            eventually(lambda: is_every_thread_taken(api))
            # In a thread of the requests it would not be answered before the session is free.
            eventually_gives(200, lambda: api.client.get("/readyz").status_code, seconds=3)
            assert not any(append.done() for append in appends)
        assert all(append.result() for append in appends)


def readiness(api: Api) -> tuple[int, Any]:
    answer = api.client.get("/readyz")
    return answer.status_code, answer.json()


def is_every_thread_taken(api: Api) -> bool:
    """Whether a request that needs a thread waits for one."""
    try:
        api.client.get("/sessions", timeout=0.2)
    except httpx.ReadTimeout:
        return True
    return False


def test_a_database_that_keeps_silent_is_reported_in_time_and_asked_once() -> None:
    with (
        postgres(is_own=True) as service,
        Server(service.url).database() as database,
        open_api(database, broker_url="redis://127.0.0.1:1/0") as api,
    ):
        eventually_gives("ok", lambda: api.client.get("/readyz").json()["database"])
        threads = threading.active_count()
        service.freeze()
        answers = [api.client.get("/readyz") for _ in range(10)]
        assert threading.active_count() <= threads + 1
        service.thaw()
        assert {(ready.status_code, ready.json()["database"]) for ready in answers} == {(503, SILENT)}
        # Only the first one waits for the database; a busy machine may hold up any of them.
        assert sum(ready.elapsed.total_seconds() for ready in answers) < len(answers) * PATIENCE_SECONDS / 2
        eventually(lambda: api.client.get("/readyz").status_code == 200)


def test_requests_in_flight_are_answered_while_the_database_keeps_silent() -> None:
    with (
        postgres(is_own=True) as service,
        Server(service.url).database() as database,
        open_api(database, broker_url="redis://127.0.0.1:1/0", threads=2) as api,
    ):
        session = api.session()
        said, key = {"messages": [user("hello")]}, {"Idempotency-Key": "once"}
        service.freeze()
        with ThreadPoolExecutor(4) as pool:
            reads = [pool.submit(api.client.get, session) for _ in range(3)]
            append = pool.submit(api.client.post, f"{session}/messages", json=said, headers=key)
            answers = [future.result() for future in (*reads, append)]
        assert [problem_of(answer)["name"] for answer in answers] == ["unavailable"] * 3 + ["outcome-unknown"]
        assert max(answer.elapsed.total_seconds() for answer in answers) < 15
        assert "retry-after" not in answers[-1].headers
        service.thaw()
        eventually(lambda: api.client.post(f"{session}/messages", json=said, headers=key).is_success)
        assert len(api.get(f"{session}/entries")["items"]) == 1


def has_waiting_statement(api: Api) -> bool:
    """Whether a statement waits for a lock."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    with api.store.read() as tx:
        return bool(tx.execute(waiting).scalar_one())


def test_a_request_is_not_given_up_for_a_pause_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline_api.http.bounds.patience.PATIENCE_SECONDS", 0.5)
    with (
        postgres(is_own=True) as service,
        Server(service.url).database() as database,
        open_api(database, broker_url="redis://127.0.0.1:1/0", threads=2) as api,
        ThreadPoolExecutor(1) as pool,
    ):
        session = api.session()
        with api.store.write() as tx:
            paths.open_head(tx, "default", session.rpartition("/")[2], lock=True)
            append = pool.submit(api.client.post, f"{session}/messages", json={"messages": [user("hello")]})
            eventually(lambda: has_waiting_statement(api))
            service.freeze()
            # Longer than two looks, of which the first waits for a probe and the second finds it still there.
            assert not wait([append], timeout=2).done
            service.thaw()
            # The request still waits for the session, and the database answers looks.
            assert not wait([append], timeout=2).done
        assert append.result().status_code == 201


def test_versions_are_read_before_a_transaction_that_writes(database: str) -> None:
    with (
        closing(Store(database, connections=1)) as store,
        served(create_app(Settings(), store)) as url,
        client(url) as connected,
    ):
        session = f"/sessions/{connected.post('/sessions', json={'model': 'openai/gpt-4o'}).json()['id']}"
        pin = connected.post(f"{session}/pins", json={"text": "never touch the vendor folder"}).json()["id"]
        removed = connected.delete(f"{session}/pins/{pin}", headers={"If-Match": '"1", "2", "3"'})
    assert removed.status_code == 204


def test_metrics_count_requests_by_route(database: str) -> None:
    with open_api(database) as api:
        session = api.session()
        api.fill(session)
        api.problem("GET", "/sessions/none")
        api.client.request("PURGE", "/nowhere")
        lines = api.metrics.splitlines()
    counted = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    name = 'foldline_requests_total{method="%s",route="%s",status="%s"}'
    assert counted[name % ("POST", "/sessions", 201)] == 1
    assert counted[name % ("POST", "/sessions/{session_id}/messages", 201)] == 14
    assert counted[name % ("GET", "/sessions/{session_id}", 404)] == 1
    assert counted[name % ("other", "none", 404)] == 1
    assert counted['foldline_request_seconds_count{method="POST",route="/sessions"}'] == 1
    assert counted['foldline_queue_jobs{queue="summarize.background",state="queued"}'] == 1
    assert session not in "".join(counted)


def test_a_client_that_goes_away_in_the_middle_of_its_request_is_no_fault_of_the_service(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with open_api(database) as api:
        url = api.client.base_url
        with socket.create_connection((url.host, url.port or 80)) as connection:
            head = f"POST /sessions HTTP/1.1\r\nhost: {url.host}\r\ncontent-length: 100\r\n\r\nhalf"
            connection.sendall(head.encode())
        gone = 'foldline_requests_total{method="POST",route="/sessions",status="499"} 1.0'
        eventually(lambda: gone in api.metrics)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_every_problem_of_the_contract_can_happen() -> None:
    assert {kind.name for kind in PROBLEM_TYPES.values()} == set(PROBLEMS.split())


def test_the_description_names_every_route_and_refers_to_what_it_has(api: Api) -> None:
    described = loads(api.client.get("/openapi.json").content)
    routes = {(method.lower(), route.path) for method, route in documented_routes()}
    assert routes == {(method, path) for path, methods in described["paths"].items() for method in methods}
    schemas = described["components"]["schemas"]
    for reference in _references(described):
        assert reference.removeprefix("#/components/schemas/") in schemas, reference
    append = described["paths"]["/sessions/{session_id}/messages"]["post"]
    assert append["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/AppendBody")
    assert set(append["responses"]) == {"201", "default"}


def test_operations_are_named_as_functions_each_by_itself(api: Api) -> None:
    paths = loads(api.client.get("/openapi.json").content)["paths"]
    names = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(names) == len(documented_routes()) == len(set(names))
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    assert paths["/sessions/{session_id}/messages"]["post"]["operationId"] == "append_messages"


def test_the_page_for_people_is_there(api: Api) -> None:
    assert "Foldline" in api.client.get("/docs").text
    found = api.client.get("/")
    assert (found.status_code, found.headers["location"]) == (307, "/docs")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_answer_whoever_asks(api: Api, path: str) -> None:
    assert api.client.get(path, headers={"Host": "10.0.0.7:8080"}).status_code == 200


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for item in value.values() for found in _references(item)]
    return [found for item in value for found in _references(item)] if isinstance(value, list) else []
