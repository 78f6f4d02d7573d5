"""What a key may do: every route of the application against every kind of key that is not good for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi import FastAPI
from foldline_api.app import create_app
from foldline_api.gateway.refusals import PATHS
from foldline_api.gateway.routes import GatewayRoute
from foldline_api.http.auth import OPEN_PATHS
from foldline_api.http.scopes import OF_GATEWAY, SCOPES

from foldline.engine.wire import loads
from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES, KeyScope
from foldline.log.storage.store import Store
from foldline.settings import Settings
from tests.support.processes.api import Api, open_api, problem_of

# Pages without data, which any key opens.
FOR_ANY_KEY = frozenset({"/", "/docs", "/openapi.json"})
MALFORMED = ("", "Bearer", "Bearer fl_", "Bearer fl_x_y", "Basic fl_x_y", "Bearer \xe9\xff", f"Bearer fl_0_{'0' * 64}")
IN_THE_PAST = 1
# An error of a provider's kind has a message alone.
SCOPE_IN_MESSAGE = re.compile(r"the scope `(\w+)`")


class Endpoint(NamedTuple):
    """A method of a route, and the scope it needs, if any."""

    method: str
    path: str
    scope: KeyScope | None


def endpoints(app: FastAPI) -> list[Endpoint]:
    """Every method of every route that needs a key. One that is not in the table of scopes is a KeyError."""
    found = []
    for route in app.state.routes:
        for method in sorted(route.methods - {"HEAD"}):
            if route.path in OPEN_PATHS:
                continue
            if isinstance(route, GatewayRoute):
                scope: KeyScope | None = OF_GATEWAY
            else:
                scope = None if route.path in FOR_ANY_KEY else SCOPES[route.path][method]
            found.append(Endpoint(method, route.path, scope))
    return found


ENDPOINTS = endpoints(create_app(Settings(), Store("sqlite:////never/opened.db")))
WITH_SCOPE = [endpoint for endpoint in ENDPOINTS if endpoint.scope is not None]
OF_ONE_THING = [endpoint for endpoint in WITH_SCOPE if "_id}" in endpoint.path]


@pytest.fixture(scope="module")
def keyed(module_database: str) -> Iterator[Api]:
    with open_api(module_database, api_keys="ann:key-of-the-environment") as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(keyed: Api) -> dict[str, str]:
    """Ann's session, and one of each thing that has an id."""
    headers = {"Authorization": "Bearer key-of-the-environment"}
    post = keyed.client.post
    body: dict[str, Any] = {"model": "nobody/nothing", "context_window": 2000, "auto_compact": False}
    session = post("/sessions", json=body, headers=headers).json()["id"]
    words = "so it goes on and on " * 90
    messages = [{"role": role, "content": words} for role in ("user", "assistant", "user", "assistant")]
    said = post(f"/sessions/{session}/messages", json={"messages": messages}, headers=headers).json()
    pin = post(f"/sessions/{session}/pins", json={"text": "never"}, headers=headers).json()
    job = post(f"/sessions/{session}/compact", headers=headers).json()["job"]
    key = post("/keys", json={"name": "x", "scopes": ["read"]}, headers=headers).json()
    return {
        "session_id": session,
        "entry_id": said["entry_ids"][0],
        "pin_id": pin["id"],
        "job_id": job["id"],
        "key_id": key["id"],
        "compaction_id": "c",
        "item_id": "i",
        "rest": "v1/models",
    }


def stored(store: Store, tenant: str = "ann", scopes: Any = ALL_SCOPES, **fields: Any) -> str:
    with store.write() as tx:
        return api_keys.create(tx, tenant, "of a test", scopes, **fields)[1]


def path_of(endpoint: Endpoint, ids: dict[str, str]) -> str:
    found = endpoint.path.replace(":path}", "}").format_map(ids)
    return f"{found}?q=anything" if found.endswith("/recall") else found


def refusal(api: Api, endpoint: Endpoint, ids: dict[str, str], authorization: str | None) -> tuple[int, Any]:
    """The status and the missing scope of a request that has to be refused."""
    headers = httpx.Headers({} if authorization is None else {"Authorization": authorization}, encoding="latin-1")
    request = api.client.build_request(endpoint.method, path_of(endpoint, ids), json={}, headers=headers)
    answer = api.client.send(request)
    if endpoint.path.startswith(PATHS):
        error = loads(answer.content)["error"]
        assert error["type"] in {"authentication_error", "permission_error"}
        found = SCOPE_IN_MESSAGE.search(error["message"])
        return answer.status_code, found and found[1]
    problem = problem_of(answer)
    assert problem["name"] in {"unauthorized", "forbidden", "not-found"}
    return problem["status"], problem.get("scope")


def name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def test_the_table_has_no_routes_that_are_none() -> None:
    described = {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert {(method, path) for path, needed in SCOPES.items() for method in needed} <= described
    assert len(WITH_SCOPE) > 40


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=name)
def test_without_a_good_key_no_route_answers(keyed: Api, ids: dict[str, str], endpoint: Endpoint) -> None:
    expired, revoked = stored(keyed.store, expires_at=IN_THE_PAST), stored(keyed.store)
    with keyed.store.write() as tx:
        api_keys.revoke(tx, "ann", revoked.rpartition("_")[0])
    for authorization in (None, *MALFORMED, f"Bearer {expired}", f"Bearer {revoked}"):
        assert refusal(keyed, endpoint, ids, authorization) == (401, None)


@pytest.mark.parametrize("endpoint", WITH_SCOPE, ids=name)
def test_a_key_without_the_scope_is_refused_with_its_name(keyed: Api, ids: dict[str, str], endpoint: Endpoint) -> None:
    key = stored(keyed.store, scopes=ALL_SCOPES - {endpoint.scope})
    assert refusal(keyed, endpoint, ids, f"Bearer {key}") == (403, endpoint.scope)


@pytest.mark.parametrize("endpoint", OF_ONE_THING, ids=name)
def test_a_key_of_another_tenant_finds_nothing(keyed: Api, ids: dict[str, str], endpoint: Endpoint) -> None:
    key = stored(keyed.store, "bob")
    body = BODIES.get(endpoint.path.rpartition("/")[2], {})
    headers = {"Authorization": f"Bearer {key}"}
    answer = keyed.client.request(endpoint.method, path_of(endpoint, ids), json=body, headers=headers)
    assert problem_of(answer)["name"] == "not-found"


# The least that each route takes, so that only the session is missing.
BODIES: dict[str, Any] = {
    "messages": {"messages": [{"role": "user", "content": "hello"}]},
    "branch": {"entry_id": "e"},
    "pins": {"text": "never"},
    "overflow": {"error": "prompt is too long", "version": 1},
    "tool": {"format": "openai"},
}


@pytest.mark.parametrize("scope", KeyScope)
def test_one_scope_is_enough_for_what_needs_it(keyed: Api, scope: KeyScope) -> None:
    headers = {"Authorization": f"Bearer {stored(keyed.store, scopes=[scope])}"}
    asked = {
        KeyScope.READ: ("GET", "/sessions"),
        KeyScope.WRITE: ("POST", "/sessions"),
        KeyScope.ADMIN: ("GET", "/keys"),
    }[scope]
    body = {"model": "nobody/nothing", "context_window": 2000}
    assert keyed.client.request(*asked, json=body, headers=headers).is_success
