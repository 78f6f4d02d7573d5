"""The limits of a request: what is above one is refused with its name, value and setting, and nothing is half done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from foldline.log.storage.store import Limits
from tests.support.pi_files import answer, chain, compaction, file_of
from tests.support.pi_files import user as asks
from tests.support.processes.api import Api, Json, open_api, user

BOUNDS: dict[str, Any] = {"max_messages": 10, "max_values": 100, "max_files": 3}
NEW: Json = {"model": "nobody/nothing", "context_window": 4000}
FILES = [{"path": f"{n}.txt", "size_bytes": 1} for n in range(4)]
HELLOS = [user("hello")] * 11
KEYS = {f"k{n}": n for n in range(101)}
CALL = {"type": "tool_use", "id": "c1", "name": "look", "input": KEYS}


@pytest.fixture(scope="module")
def bounded(module_database: str) -> Iterator[Api]:
    with open_api(module_database, **BOUNDS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "body", "limit"),
    [
        ("/sessions/{id}/messages", {"messages": HELLOS}, "messages"),
        ("/sessions/{id}/messages", {"messages": [{"role": "assistant", "content": [CALL]}]}, "values"),
        ("/sessions/{id}/budget", {"files": FILES}, "files"),
        ("/budget", {**NEW, "files": FILES}, "files"),
        ("/budget", {**NEW, "messages": HELLOS}, "messages"),
        ("/compact", {**NEW, "messages": HELLOS}, "messages"),
        ("/compact", {**NEW, "messages": [], "tools": [KEYS]}, "values"),
        ("/sessions", {**NEW, "tools": [KEYS]}, "values"),
        ("/import", {"file": file_of(chain(*(asks(f"u{n}") for n in range(60))), id="large")}, "values"),
    ],
)
def test_above_a_limit_a_request_is_refused_and_its_connection_stays(
    bounded: Api, path: str, body: Json, limit: str
) -> None:
    session = bounded.session()
    before = bounded.get("/sessions")
    problem = bounded.problem("POST", path.format(id=session.rpartition("/")[2]), body)
    assert {name: problem[name] for name in ("name", "status", "limit", "value", "setting")} == {
        "name": "limit-exceeded",
        "status": 422,
        "limit": limit,
        "value": BOUNDS[f"max_{limit}"],
        "setting": f"FOLDLINE_MAX_{limit.upper()}",
    }
    assert (bounded.get("/sessions"), bounded.get(f"{session}/entries")["items"]) == (before, [])
    bounded.say(session, user("hello"))


def test_what_is_at_a_limit_is_taken(bounded: Api) -> None:
    session = bounded.session()
    bounded.say(session, *HELLOS[:10])
    text = ",{[" * 1000
    bounded.say(session, user(text))
    assert bounded.get(f"{session}/entries")["items"][-1]["message"]["content"] == text
    bounded.post(f"{session}/budget", {"files": FILES[:3]})


@pytest.fixture(params=[{"session_entries": 6}, {"session_bytes": 400}], ids=str)
def filled(request: pytest.FixtureRequest, database: str) -> Iterator[tuple[Api, dict[str, Any]]]:
    with open_api(database, Limits(**request.param)) as opened:
        yield opened, request.param


def test_a_full_session_takes_no_more_on_any_branch_and_can_be_read(filled: tuple[Api, dict[str, Any]]) -> None:
    api, given = filled
    session = api.session()
    ((name, value),) = given.items()
    first = api.say(session, user("one " * 10), user("two " * 10))["entry_ids"][0]
    api.post(f"{session}/branch", {"entry_id": first})
    api.say(session, user("three " * 10), user("four " * 10))
    api.post(f"{session}/branch", {"entry_id": first})
    before = api.get(f"{session}/context")
    problem = api.problem("POST", f"{session}/messages", {"messages": [user(f"more {n} " * 12) for n in range(3)]})
    assert (problem["name"], problem["value"]) == ("limit-exceeded", value)
    assert (problem["limit"], problem["setting"]) == (name, f"FOLDLINE_MAX_{name.upper()}")
    assert api.get(f"{session}/context") == before
    api.say(session, user("short"))


def test_a_file_with_more_entries_than_a_session_takes_makes_none(filled: tuple[Api, dict[str, Any]]) -> None:
    api, given = filled
    entries = chain(asks("u1"), answer("a1"), *(asks(f"u{n}") for n in range(2, 9)))
    problem = api.problem("POST", "/import", {"file": file_of(entries, id="large")})
    assert [problem["limit"]] == list(given)
    assert api.get("/sessions")["items"] == []


@pytest.mark.parametrize(("most", "is_taken"), [(12, True), (11, False)])
def test_what_the_compactions_of_a_file_summarize_again_on_branches_counts_again(
    database: str, most: int, *, is_taken: bool
) -> None:
    # Five entries of a path with one segment, then four of them again: the branch's path has two segments.
    trunk = chain(*(asks(f"u{n}") for n in range(6)), compaction("k", "u5"))
    branch = chain(asks("v"), compaction("l", "v"), after="u3")
    file = file_of([*trunk, *branch], id="again")
    with open_api(database, Limits(summarized_entries=most)) as api:
        if is_taken:
            assert api.post("/import", {"file": file}, status=201)["compactions"] == 2
            return
        problem = api.problem("POST", "/import", {"file": file})
        assert (problem["name"], problem["limit"], problem["value"]) == ("limit-exceeded", "summarized_entries", most)
        assert problem["setting"] == "FOLDLINE_MAX_SUMMARIZED_ENTRIES"
        assert api.get("/sessions")["items"] == []
