"""API keys and idempotency keys."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from foldline_api.http.auth import DEFAULT_TENANT
from foldline_api.routes.compactions import NOT_IN_OLDER
from sqlalchemy import update

from foldline.engine.wire import dumps
from foldline.log.storage import paths
from foldline.log.storage.store import Limits
from foldline.log.storage.tables import IDEMPOTENCY
from tests.support.eventually import eventually
from tests.support.processes.api import SMALL_WINDOW, Api, Json, open_api, problem_of, user
from tests.support.processes.http import client

NEW = {"model": "nobody/nothing", "context_window": SMALL_WINDOW}
ANN, BOB = ({"Authorization": f"Bearer private-key-of-{name}"} for name in ("ann", "bob"))


@pytest.fixture(scope="module")
def keyed(module_database: str) -> Iterator[Api]:
    keys = "ann:private-key-of-ann,bob:private-key-of-bob,ann:another-key-of-ann"
    with open_api(module_database, api_keys=keys) as opened:
        yield opened


@pytest.mark.parametrize(
    "path",
    [
        "/sessions",
        "/sessions/x/context",
        "/docs",
        "/docs/files/swagger-ui.css",
        "/openapi.json",
        "/nowhere",
    ],
)
@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        "Basic private-key-of-ann",
        "private-key-of-ann",
        "Bearer private-key-of-ann2",
        f"Bearer fl_{'0' * 24}_{'0' * 64}",
    ],
)
def test_without_a_known_key_nothing_is_answered(keyed: Api, path: str, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = keyed.client.get(path, headers=headers)
    assert (problem_of(answer)["name"], answer.status_code) == ("unauthorized", 401)
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "key-of" not in answer.text


def test_probes_need_no_key(keyed: Api) -> None:
    keyed.get("/healthz")
    keyed.get("/readyz")


def test_each_key_opens_its_tenants_sessions_only(keyed: Api) -> None:
    post = keyed.client.post
    assert post("/sessions", json={**NEW, "id": "same"}, headers=ANN).status_code == 201
    assert post("/sessions", json={**NEW, "id": "same"}, headers=BOB).status_code == 201
    path = f"/sessions/{post('/sessions', json=NEW, headers=ANN).json()['id']}"
    too = {"Authorization": "bearer another-key-of-ann"}
    assert keyed.client.get(path, headers=too).status_code == 200
    for route in ("", "/context", "/stats", "/entries", "/jobs", "/pins", "/compactions"):
        assert problem_of(keyed.client.get(path + route, headers=BOB))["name"] == "not-found"
    assert problem_of(keyed.client.delete(path, headers=BOB))["name"] == "not-found"
    listed = [item["id"] for item in keyed.client.get("/sessions", headers=BOB).json()["items"]]
    assert listed == ["same"]


def test_another_tenants_job_is_not_found(keyed: Api) -> None:
    path = f"/sessions/{keyed.client.post('/sessions', json=NEW, headers=ANN).json()['id']}"
    messages = [user("so it goes on and on " * 90) for _ in range(2)]
    keyed.client.post(f"{path}/messages", json={"messages": messages}, headers=ANN)
    job = keyed.client.post(f"{path}/compact", headers=ANN).json()["job"]["id"]
    assert keyed.client.get(f"/jobs/{job}", headers=ANN).status_code == 200
    for method, route in (("GET", f"/jobs/{job}"), ("DELETE", f"/jobs/{job}"), ("GET", f"/jobs/{job}/events")):
        assert problem_of(keyed.client.request(method, route, headers=BOB))["name"] == "not-found"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "10.1.2.3"},
        {"Host": "["},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_without_keys_only_this_machine_is_answered(api: Api, headers: dict[str, str]) -> None:
    assert problem_of(api.client.get("/sessions", headers=headers))["name"] == "unauthorized"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost:1"},
        {"Host": "[::1]:80"},
        {"Host": "127.8.8.8"},
        {"Host": "localhost:3000", "Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_this_machine_has_several_names(api: Api, headers: dict[str, str]) -> None:
    assert api.client.get("/sessions", headers=headers).status_code == 200


def test_no_page_may_frame_an_answer_or_guess_its_type(api: Api) -> None:
    for path in ("/sessions", "/docs", "/nothing"):
        headers = api.client.get(path).headers
        assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")


def test_with_a_key_a_request_is_done_once(api: Api) -> None:
    session = api.session()
    body: Json = {"messages": [user("hello")]}
    first = api.client.post(f"{session}/messages", json=body, headers={"Idempotency-Key": "k"})
    again = api.client.post(f"{session}/messages", json=body, headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    other = api.client.post(f"{session}/messages", json=body, headers={"Idempotency-Key": "l"})
    assert other.json()["version"] == 3
    assert api.get(session)["message_count"] == 2


def test_an_answer_is_repeated_byte_for_byte(api: Api) -> None:
    session = api.session()
    for text in ("plain", "\u2603 caf\u00e9", "lone \ud800", "1.0e3 " + "9" * 30):
        body = json.dumps({"text": text})
        headers = {"Idempotency-Key": f"pin {text!r}".encode("ascii", "replace").decode()}
        first, again = (api.client.post(f"{session}/pins", content=body, headers=headers) for _ in range(2))
        assert (first.status_code, first.json()["text"]) == (201, text)
        assert again.content == first.content
    assert len(api.get(f"{session}/pins")["items"]) == 4


def test_a_creation_is_remembered_with_its_headers(api: Api) -> None:
    first, again = (api.client.post("/sessions", json=NEW, headers={"Idempotency-Key": "new"}) for _ in range(2))
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"]


def test_a_key_belongs_to_one_route_and_one_body(api: Api) -> None:
    one, two = api.session(), api.session()
    body: Json = {"messages": [user("hello")]}
    for session in (one, two):
        api.post(f"{session}/messages", body, 201, Idempotency_Key="shared")
    problem = api.problem("POST", f"{one}/messages", {"messages": [user("other")]}, Idempotency_Key="shared")
    assert (problem["name"], problem["status"]) == ("idempotency-mismatch", 422)
    assert api.get(one)["message_count"] == api.get(two)["message_count"] == 1


def test_a_refused_request_is_not_remembered(api: Api) -> None:
    session = api.session()
    assert api.problem("POST", f"{session}/redo", {}, Idempotency_Key="r")["name"] == "conflict"
    api.fill(session, turns=6)
    (made,) = api.get(f"{session}/compactions")["items"]
    api.post(f"{session}/compactions/{made['id']}/undo", {}, Idempotency_Key="r")
    assert api.post(f"{session}/redo", {}, Idempotency_Key="r")["redone"] == [made["id"]]
    assert api.post(f"{session}/redo", {}, Idempotency_Key="r")["redone"] == [made["id"]]


@pytest.mark.parametrize("is_older", [False, True], ids=["of this version", "of the version before"])
def test_answers_are_forgotten_with_their_session(api: Api, *, is_older: bool) -> None:
    new = {**NEW, "id": "z_1"}
    body: Json = {"messages": [user("hello")]}
    api.post("/sessions", new, 201, Idempotency_Key="z")
    api.post("/sessions/z_1/messages", body, 201, Idempotency_Key="z")
    if is_older:
        with api.store.write() as tx:
            tx.execute(update(IDEMPOTENCY).values(session_id=None))
    api.call("DELETE", "/sessions/z_1", status=204)
    assert api.problem("POST", "/sessions/z_1/messages", body, Idempotency_Key="z")["name"] == "not-found"
    api.post("/sessions", new, 201, Idempotency_Key="z")
    assert api.get("/sessions/z_1")["message_count"] == 0
    api.post("/sessions/z_1/messages", body, 201, Idempotency_Key="z")
    assert api.get("/sessions/z_1")["message_count"] == 1
    api.call("DELETE", "/sessions/z_1", status=204)


def test_while_a_request_is_worked_on_its_key_is_taken(api: Api) -> None:
    session = api.session()
    body: Json = {"messages": [user("hello")]}
    with ThreadPoolExecutor() as pool:
        with api.store.write() as tx:
            paths.open_head(tx, DEFAULT_TENANT, session.rpartition("/")[2], lock=True)
            first = pool.submit(api.post, f"{session}/messages", body, 201, Idempotency_Key="busy")
            eventually(lambda: api.app.state.service.keys.held)
            problem = api.problem("POST", f"{session}/messages", body, Idempotency_Key="busy")
        assert (problem["name"], problem["status"]) == ("idempotency-in-flight", 409)
        assert first.result()["version"] == 2


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_reasonable_length(api: Api, key: str) -> None:
    problem = api.problem("POST", "/sessions", NEW, Idempotency_Key=key)
    assert (problem["name"], problem["path"]) == ("invalid-request", "Idempotency-Key")


def test_a_key_that_is_too_old_is_free_again(database: str) -> None:
    with open_api(database, Limits(idempotency_seconds=-1)) as api:
        ids = {api.post("/sessions", NEW, 201, Idempotency_Key="old")["id"] for _ in range(2)}
        assert len(ids) == 2


def test_a_compaction_with_a_key_gives_its_answer_again(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=3)
    first = api.post(f"{session}/compact", {}, 202, Idempotency_Key="c")
    api.do_jobs()
    assert api.post(f"{session}/compact", {}, 202, Idempotency_Key="c") == first
    waited = api.post(f"{session}/compact", {}, 200, Idempotency_Key="c", Prefer="wait=5")
    assert (waited["job"]["id"], waited["job"]["state"]) == (first["job"]["id"], "succeeded")
    (made,) = api.get(f"{session}/compactions")["items"]
    before = first["result"]["tokens_before"]
    assert waited["result"] == {
        "compacted": True,
        "stages_used": ["summarize"],
        "tokens_before": before,
        "tokens_after": made["tokens_after"],
        "tokens_saved": before - made["tokens_after"],
    }


def test_an_answer_that_an_older_version_stored_gets_its_compaction_too(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=3)
    first = api.post(f"{session}/compact", {}, 202, Idempotency_Key="c")
    api.do_jobs()
    older = {name: value for name, value in first.items() if name not in NOT_IN_OLDER}
    with api.store.write() as tx:
        is_its = IDEMPOTENCY.c.route == f"POST {session}/compact"
        assert tx.execute(update(IDEMPOTENCY).where(is_its).values(body=dumps(older))).rowcount == 1
    waited = api.post(f"{session}/compact", {}, 200, Idempotency_Key="c", Prefer="wait=5")
    assert (waited["job"]["state"], waited["result"]["stages_used"]) == ("succeeded", ["summarize"])
    assert (waited["target"], waited["not_compacted"]) == (None, None)


def test_an_answer_that_waited_leaves_out_a_compaction_of_another_branch(api: Api) -> None:
    session = api.session(auto_compact=False)
    said = api.fill(session, turns=3)[0]["entry_ids"]
    first = api.post(f"{session}/compact", {}, 202, Idempotency_Key="c")
    api.do_jobs()
    api.post(f"{session}/branch", {"entry_id": said[0]})
    waited = api.post(f"{session}/compact", {}, 200, Idempotency_Key="c", Prefer="wait=5")
    assert (waited["job"]["state"], waited["result"]) == ("succeeded", first["result"])


def test_a_client_on_another_machine_is_refused_without_keys(api: Api) -> None:
    """The server listens on loopback, so such a client can only be one that a proxy on this machine names."""
    answer = api.client.get("/sessions", headers={"X-Forwarded-For": "203.0.113.9"})
    assert problem_of(answer)["name"] == "unauthorized"


def test_answers_do_not_wait_for_acknowledgements(api: Api) -> None:
    """Without TCP_NODELAY on the listener every answer takes 40 ms more."""
    session = api.session()
    times = sorted(api.client.get(session).elapsed.total_seconds() for _ in range(20))
    assert times[0] < 0.035


def test_a_broken_request_line_does_not_harm(api: Api) -> None:
    base = api.client.base_url
    with socket.create_connection((base.host, base.port or 80)) as connection:
        connection.sendall(b"\x00\x01 nonsense\r\n\r\n")
        connection.recv(100)
    with client(base) as fresh:
        assert fresh.get("/healthz").status_code == 200
