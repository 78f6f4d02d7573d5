"""Lists come in pages, whatever they are lists of."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest
from foldline_api.http.auth import DEFAULT_TENANT
from foldline_api.http.cursors import Cursors

from foldline.log.storage.store import Store
from tests.support.processes.api import Api, Json, assistant, user
from tests.support.processes.databases import each_kind

# Pages are SQL.
database_kind = each_kind

LISTS = ("entries", "compactions", "branches", "pins", "jobs")
# The largest position that a cursor may stand for.
FAR = (1 << 62) - 1


def cursor_of(api: Api, path: str, position: int) -> str:
    """A cursor as another process on the database would write it."""
    return Cursors(api.store).written(f"{DEFAULT_TENANT}\0GET {path}", position)


@pytest.fixture(scope="module")
def session(api: Api) -> str:
    """A session with several of everything."""
    session = api.session(auto_compact=False)
    first, *_ = api.say(session, user("one"), assistant("two"))["entry_ids"]
    for text in ("three", "four"):
        api.post(f"{session}/branch", {"entry_id": first})
        api.say(session, user(text))
        api.post(f"{session}/pins", {"text": f"Mind {text}."}, 201)
    for _ in range(2):
        api.fill(session, turns=3)
        job = api.post(f"{session}/compact", {"target_tokens": 400, "stages": ["truncate"]}, 202)["job"]
        api.call("DELETE", f"/jobs/{job['id']}")
    *_, newest = api.get(f"{session}/compactions")["items"]
    api.post(f"{session}/compactions/{newest['id']}/undo")
    return session


@pytest.mark.parametrize("name", LISTS)
def test_pages_are_the_whole_list_in_order(api: Api, session: str, name: str) -> None:
    whole = api.get(f"{session}/{name}?limit=500")
    assert (len(whole["items"]) > 1, whole["next_cursor"]) == (True, None)
    found: list[Json] = []
    cursor = ""
    for item in whole["items"]:
        page = api.get(f"{session}/{name}?limit=1{cursor}")
        assert page["items"] == [item]
        found += page["items"]
        cursor = f"&cursor={page['next_cursor']}"
    assert (found, cursor) == (whole["items"], "&cursor=None")


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_beyond_the_end_leads_to_an_empty_page(api: Api, session: str, name: str) -> None:
    path = f"{session}/{name}"
    assert api.get(f"{path}?cursor={cursor_of(api, path, FAR)}") == {"items": [], "next_cursor": None}


def test_a_cursor_beyond_the_last_session_leads_to_an_empty_page(api: Api) -> None:
    assert api.get(f"/sessions?cursor={cursor_of(api, '/sessions', FAR)}") == {"items": [], "next_cursor": None}


def test_a_cursor_shows_no_number_and_is_of_one_list_of_one_tenant(api: Api, session: str) -> None:
    cursor = api.get(f"{session}/pins?limit=1")["next_cursor"]
    raw = base64.urlsafe_b64decode(cursor + "==")
    one, two = (cursor_of(api, f"{session}/pins", position) for position in (1, 2))
    assert len(raw) == 24
    assert sum(a != b for a, b in zip(one, two, strict=True)) > len(one) / 2
    changed = base64.urlsafe_b64encode(raw[:-1] + bytes([raw[-1] ^ 1])).decode().rstrip("=")
    plain = base64.urlsafe_b64encode(b"1").decode().rstrip("=")
    for path, other in (("jobs", cursor), ("pins", changed), ("pins", cursor[:-2]), ("pins", plain), ("pins", "é")):
        problem = api.problem("GET", f"{session}/{path}?cursor={other}")
        assert (problem["name"], problem["path"]) == ("invalid-request", "query.cursor")
    theirs = Cursors(api.store).written(f"other\0GET {session}/pins", 1)
    assert api.problem("GET", f"{session}/pins?cursor={theirs}")["path"] == "query.cursor"


def test_processes_that_need_the_secret_at_once_share_it(database: str) -> None:
    with closing(Store(database)) as store:
        start = Barrier(4)

        def written() -> str:
            start.wait()
            return Cursors(store).written("a list", 7)

        with ThreadPoolExecutor(4) as pool:
            found = {future.result() for future in [pool.submit(written) for _ in range(4)]}
        assert len(found) == 1


def test_a_page_of_large_entries_is_cut_by_their_bytes(api: Api) -> None:
    session = api.session(context_window=100_000_000, auto_compact=False)
    for _ in range(5):
        api.say(session, user("x" * 3_000_000))
    found: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"{session}/entries?limit=4{cursor}")
        found.append(len(page["items"]))
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
    assert found == [2, 2, 1]
