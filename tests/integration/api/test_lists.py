"""Lists come in pages, whatever they are lists of."""

from __future__ import annotations

import base64

import pytest

from tests.support.processes.api import Api, Json, assistant, user
from tests.support.processes.databases import each_kind

# Pages are SQL.
database_kind = each_kind

LISTS = ("entries", "compactions", "branches", "pins", "jobs")
# The largest position that a cursor may stand for.
FAR = base64.urlsafe_b64encode(b"%d" % ((1 << 62) - 1)).rstrip(b"=").decode()


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
    assert api.get(f"{session}/{name}?cursor={FAR}") == {"items": [], "next_cursor": None}


def test_a_cursor_beyond_the_last_session_leads_to_an_empty_page(api: Api) -> None:
    assert api.get(f"/sessions?cursor={FAR}") == {"items": [], "next_cursor": None}
