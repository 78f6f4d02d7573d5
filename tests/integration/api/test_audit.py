"""The audit trail: what callers did is in it with the key they used, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES
from tests.support.processes.api import Api, Json, open_api
from tests.support.processes.databases import each_kind

# The trail is SQL.
database_kind = each_kind

PRIVATE = "the launch code is 0000"
SAID = f"{PRIVATE} and so it goes on " * 40


class Trail:
    """A tenant of its own with a stored key, and what the trail says of it."""

    def __init__(self, api: Api, tenant: str) -> None:
        self.api = api
        with api.store.write() as tx:
            self.key, key = api_keys.create(tx, tenant, "of a test", ALL_SCOPES)
        self.headers = {"Authorization": f"Bearer {key}"}

    def call(self, method: str, path: str, body: Json | None = None, **headers: str) -> Json:
        answer = self.api.client.request(method, path, json=body, headers={**self.headers, **headers})
        assert answer.is_success, answer.text
        found: Json = answer.json() if "json" in answer.headers.get("content-type", "") else {}
        return found

    def session(self) -> str:
        new = {"model": "nobody/nothing", "context_window": 2000, "auto_compact": False}
        path = f"/sessions/{self.call('POST', '/sessions', new)['id']}"
        messages = [{"role": role, "content": SAID} for role in ("user", "assistant", "user", "assistant")]
        self.first = self.call("POST", f"{path}/messages", {"messages": messages})["entry_ids"][0]
        return path

    @property
    def lines(self) -> list[Json]:
        found: list[Json] = self.call("GET", "/audit?limit=500")["items"]
        return found


@pytest.fixture
def trail(database: str) -> Iterator[Trail]:
    with open_api(database, api_keys="other:key-of-the-environment") as api:
        yield Trail(api, "ann")


def test_what_a_caller_does_is_in_it_with_the_key_and_the_session(trail: Trail) -> None:
    path = trail.session()
    cut = trail.call("POST", f"{path}/compact", {"stages": ["truncate"], "target_tokens": 300, "summarize": False})
    assert cut["result"]["compacted"]
    (made,) = trail.call("GET", f"{path}/compactions")["items"]
    trail.call("POST", f"{path}/compactions/{made['id']}/undo", {})
    trail.call("POST", f"{path}/redo", {})
    pin = trail.call("POST", f"{path}/pins", {"text": PRIVATE})["id"]
    trail.call("DELETE", f"{path}/pins/{pin}")
    trail.call("POST", f"{path}/branch", {"entry_id": trail.first})
    file = trail.api.client.get(f"{path}/export", headers=trail.headers).text
    copy = trail.call("POST", "/import", {"file": file, "id": "copy", "model": "openai/gpt-4o"})["session"]["id"]
    key = trail.call("POST", "/keys", {"name": PRIVATE, "scopes": ["read"]})["id"]
    trail.call("DELETE", f"/keys/{key}")
    trail.call("DELETE", path)

    session = path.rpartition("/")[2]
    assert [(line["action"], line["session_id"], line["object_id"]) for line in trail.lines] == [
        ("compacted", session, made["id"]),
        ("undid", session, made["id"]),
        ("redid", session, None),
        ("pinned", session, pin),
        ("unpinned", session, pin),
        ("branched", session, trail.first),
        ("exported", session, None),
        ("imported", copy, None),
        ("created-key", None, key),
        ("revoked-key", None, key),
        ("deleted", session, None),
    ]
    assert {line["actor"] for line in trail.lines} == {trail.key.id}
    assert PRIVATE not in str(trail.lines)


def test_what_was_not_done_is_not_in_it(trail: Trail) -> None:
    path = trail.session()
    trail.call("POST", f"{path}/compact", {"dry_run": True})
    bad: tuple[tuple[str, str, Json], ...] = (
        ("POST", "/redo", {}),
        ("POST", "/branch", {"entry_id": "e9-9"}),
        ("DELETE", "/pins/p", {}),
    )
    for method, route, body in bad:
        assert trail.api.client.request(method, path + route, json=body, headers=trail.headers).is_client_error
    assert trail.lines == []


def test_a_repeated_request_is_in_it_once(trail: Trail) -> None:
    path = trail.session()
    for _ in range(2):
        trail.call("POST", f"{path}/pins", {"text": "never"}, **{"Idempotency-Key": "once"})
    assert [line["action"] for line in trail.lines] == ["pinned"]


def test_each_tenant_has_a_trail_of_its_own_in_pages(trail: Trail) -> None:
    path = trail.session()
    pins = [trail.call("POST", f"{path}/pins", {"text": text})["id"] for text in ("one", "two", "three")]
    other = Trail(trail.api, "bob")
    own = {"Authorization": "Bearer key-of-the-environment"}
    trail.api.client.post("/keys", json={"name": "x", "scopes": ["read"]}, headers=own)

    assert other.lines == []
    assert [line["actor"] for line in trail.api.client.get("/audit", headers=own).json()["items"]] == ["environment"]
    found, cursor = [], ""
    for _ in pins:
        page = trail.call("GET", f"/audit?limit=1{cursor}")
        found += [line["object_id"] for line in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert (found, cursor) == (pins, "&cursor=None")
