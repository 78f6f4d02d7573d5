"""API keys that are stored: what they open, until when, and that a service accepts and refuses them as it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest
from foldline_api.http.known_keys import KNOWN_SECONDS, LOOK_UPS_AT_ONCE, UNKNOWN_KEY

from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES, KeyScope
from foldline.log.storage.store import Store
from foldline.log.storage.tables import API_KEY, IDEMPOTENCY
from stack.services.servers import postgres
from tests.support.eventually import eventually
from tests.support.processes.api import Api, check_answer, open_api, problem_of
from tests.support.processes.databases import Server, each_kind

# Keys are SQL.
database_kind = each_kind

NEW = {"model": "nobody/nothing", "context_window": 2000}
OWN = "key-of-the-environment"
IN_THE_PAST = 1


@pytest.fixture(scope="module")
def keyed(module_database: str) -> Iterator[Api]:
    with open_api(module_database, api_keys=f"ann:{OWN}") as opened:
        yield opened


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def stored(store: Store, tenant: str = "ann", scopes: Any = ALL_SCOPES, **fields: Any) -> str:
    """A new key."""
    with store.write() as tx:
        return api_keys.create(tx, tenant, "of a test", scopes, **fields)[1]


def asked(api: Api, key: str, method: str = "GET", path: str = "/sessions", **fields: Any) -> httpx.Response:
    answer = api.client.request(method, path, headers={**bearer(key), **fields.pop("headers", {})}, **fields)
    if answer.is_success:
        check_answer(answer)
    return answer


def refusal(api: Api, key: str, path: str = "/sessions") -> tuple[int, str]:
    problem = problem_of(asked(api, key, path=path))
    return problem["status"], problem["detail"]


def is_refused(api: Api, key: str) -> bool:
    return asked(api, key).status_code == 401


def test_a_key_is_shown_once_and_opens_its_tenants_sessions(keyed: Api) -> None:
    body = {"name": "laptop", "scopes": ["read", "write"], "expires_at": "2999-01-31T12:00:00+01:00"}
    made = asked(keyed, OWN, "POST", "/keys", json=body).json()
    assert made["key"].startswith(f"{made['id']}_")
    assert (made["expires_at"], made["scopes"]) == ("2999-01-31T11:00:00.000Z", ["read", "write"])

    session = asked(keyed, made["key"], "POST", "/sessions", json=NEW).json()["id"]

    assert asked(keyed, OWN, path=f"/sessions/{session}").status_code == 200
    listed = asked(keyed, OWN, path="/keys?limit=500")
    assert made["id"] in {key["id"] for key in listed.json()["items"]}
    assert made["key"] not in listed.text
    with keyed.store.read() as tx:
        rows = tx.execute(API_KEY.select()).all()
    assert made["key"].rpartition("_")[2] not in repr(rows)


def test_a_repeated_creation_does_not_show_the_key_again(keyed: Api) -> None:
    once = {"Idempotency-Key": "once"}
    body = {"name": "laptop", "scopes": ["read"]}
    first, again = (asked(keyed, OWN, "POST", "/keys", json=body, headers=once).json() for _ in range(2))
    assert again == {**first, "key": None}
    with keyed.store.read() as tx:
        assert first["key"] not in repr(tx.execute(IDEMPOTENCY.select()).all())


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("expires_at", {"expires_at": "2020-01-01T00:00:00Z"}),
        ("expires_at", {"expires_at": "2999-01-01T00:00:00"}),
        ("expires_at", {"expires_at": "9999-12-31T23:59:59-23:59"}),
        ("expires_at", {"expires_at": 7}),
        ("scopes", {"scopes": []}),
        ("scopes[0]", {"scopes": ["root"]}),
        ("name", {"name": "a\nb"}),
        ("tenant", {"tenant": "bob"}),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(keyed: Api, path: str, change: dict[str, Any]) -> None:
    problem = problem_of(asked(keyed, OWN, "POST", "/keys", json={"name": "x", "scopes": ["read"], **change}))
    assert (problem["name"], problem["path"]) == ("invalid-request", path)


def test_a_revoked_key_is_refused_within_seconds(keyed: Api) -> None:
    key = stored(keyed.store)
    assert asked(keyed, key).status_code == 200
    assert asked(keyed, OWN, "DELETE", f"/keys/{key.rpartition('_')[0]}").status_code == 204
    eventually(partial(is_refused, keyed, key), 2 * KNOWN_SECONDS + 1)
    assert refusal(keyed, key) == (401, "the key was revoked")


def test_several_processes_accept_and_refuse_the_same_keys(keyed: Api, module_database: str) -> None:
    stored(keyed.store)
    with open_api(module_database) as other:
        assert other.client.get("/sessions").status_code == 401
        key = stored(keyed.store)
        assert [asked(api, key).status_code for api in (keyed, other)] == [200, 200]
        asked(keyed, OWN, "DELETE", f"/keys/{key.rpartition('_')[0]}")
        for api in (keyed, other):
            eventually(partial(is_refused, api, key), 2 * KNOWN_SECONDS + 1)


def test_a_key_is_refused_from_the_moment_at_which_it_expires(keyed: Api) -> None:
    with keyed.store.read() as tx:
        soon = tx.now + 400
    key = stored(keyed.store, expires_at=soon)
    assert asked(keyed, key).status_code == 200
    eventually(lambda: keyed.store.now >= soon)
    assert refusal(keyed, key) == (401, "the key has expired; create another one")


def test_who_knows_the_id_alone_learns_nothing(keyed: Api) -> None:
    key = stored(keyed.store, expires_at=IN_THE_PAST)
    wrong = [key[:-1] + ("1" if key[-1] == "0" else "0"), key[:-1], f"{key}0", f"fl_{'0' * 24}_{key[-64:]}", "fl_", "_"]
    assert {refusal(keyed, other) for other in wrong} == {(401, UNKNOWN_KEY)}


def test_another_tenants_key_is_not_found(keyed: Api) -> None:
    bobs = stored(keyed.store, "bob")
    assert problem_of(asked(keyed, OWN, "DELETE", f"/keys/{bobs.rpartition('_')[0]}"))["name"] == "not-found"
    assert asked(keyed, bobs).status_code == 200
    assert [key["id"] for key in asked(keyed, bobs, path="/keys").json()["items"]] == [bobs.rpartition("_")[0]]


def test_the_last_use_is_noted_without_a_write_at_each_request(keyed: Api) -> None:
    key = stored(keyed.store)
    assert asked(keyed, key).status_code == 200

    def used_at() -> int | None:
        with keyed.store.read() as tx:
            found = api_keys.find(tx, key)
            assert found is not None
            return found.used_at

    eventually(used_at, 2 * KNOWN_SECONDS + 1)
    first = used_at()
    with keyed.store.write() as tx:
        api_keys.note_use(tx, [key.rpartition("_")[0]])
    assert used_at() == first


def test_a_silent_database_holds_up_a_few_threads_and_no_key_that_was_good() -> None:
    with (
        postgres(is_own=True) as service,
        Server(service.url).database() as database,
        open_api(database, api_keys=f"ann:{OWN}") as api,
    ):
        key, others = stored(api.store), [stored(api.store) for _ in range(3 * LOOK_UPS_AT_ONCE)]
        assert asked(api, key, path="/models").status_code == 200
        threads = threading.active_count()
        service.freeze()
        with ThreadPoolExecutor(len(others)) as pool:
            refused = [pool.submit(asked, api, other, path="/models") for other in others]
            codes = {answer.result().status_code for answer in refused}
            assert threading.active_count() <= threads + LOOK_UPS_AT_ONCE + len(others)
        known = asked(api, key, path="/models").status_code
        service.thaw()
        assert (codes, known) == ({503}, 200)
        eventually(lambda: asked(api, others[0], path="/models").status_code == 200)


def test_from_the_first_stored_key_on_a_service_needs_one(database: str) -> None:
    with open_api(database) as api:
        api.get("/sessions")
        key = stored(api.store, scopes=[KeyScope.READ])
        eventually(lambda: api.client.get("/sessions").status_code == 401)
        assert asked(api, key).status_code == 200
        with api.store.write() as tx:
            api_keys.revoke(tx, None, key.rpartition("_")[0])
        eventually(partial(is_refused, api, key))
        assert api.client.get("/sessions").status_code == 401
