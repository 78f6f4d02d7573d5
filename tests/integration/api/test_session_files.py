"""Session files over HTTP: what comes of them, and what is said of those that cannot be imported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from httpx import Response

from tests.support.pi_files import (
    answer,
    bash,
    branch_summary,
    chain,
    compaction,
    entry,
    file_of,
    lines_of,
    model_change,
)
from tests.support.pi_files import user as asks
from tests.support.processes.api import Api, Json, assistant, open_api, problem_of, user
from tests.support.processes.http import items_of

NAMES = map("talk-{}".format, count())
ENTRIES = [
    *chain(asks("u1"), answer("a1"), asks("u2"), answer("a2"), compaction("k", "u2"), bash("b", is_excluded=True)),
    *chain(branch_summary("left", "a2"), asks("u3"), after="a1"),
]


def imported(api: Api, entries: list[Json] = ENTRIES, **fields: Any) -> str:
    """The path of a session that was made of a file."""
    made = api.post("/import", {"file": file_of(entries, id=next(NAMES)), **fields}, 201)
    return f"/sessions/{made['session']['id']}"


def sessions(api: Api) -> list[str]:
    return [item["id"] for item in items_of(api.client, "/sessions")]


def exported(api: Api, session: str) -> Response:
    return api.client.get(f"{session}/export")


def test_a_file_becomes_a_session(api: Api) -> None:
    file = file_of(ENTRIES, id="talk")
    response = api.client.post("/import", json={"file": file})
    assert (response.status_code, response.headers["location"]) == (201, "/sessions/talk")
    made = response.json()
    counted = {"entries": 8, "messages": 5, "branches": 2, "compactions": 1}
    assert {name: made[name] for name in counted} == counted
    assert made["session"] == api.get("/sessions/talk")
    assert (made["session"]["model"], made["session"]["policy"]["preset"]) == ("openai/gpt-4o", "pi")
    assert [message["content"] for message in api.get("/sessions/talk/context")["messages"]][::3] == ["u1", "u3"]


def test_a_file_comes_out_as_it_was(api: Api) -> None:
    file = file_of(ENTRIES, id="same", cwd="/home/\ud800/漢")
    api.post("/import", {"file": file}, 201)
    answered = exported(api, "/sessions/same")
    assert answered.headers["content-type"] == "application/x-ndjson"
    assert lines_of(answered.text) == lines_of(file)


def test_what_is_given_goes_before_what_the_file_says(api: Api) -> None:
    given: Json = {
        "id": "mine",
        "model": "nobody/nothing",
        "context_window": "32k",
        "max_output_tokens": 500,
        "system": "Hm.",
        "auto_compact": False,
    }
    session = api.get(imported(api, **given, policy={"preset": "foldline"}))
    assert {name: session[name] for name in given} == {**given, "context_window": 32_000}
    assert session["policy"]["preset"] == "foldline"


def test_entries_are_listed_as_what_they_are(api: Api) -> None:
    session = imported(api, [*ENTRIES, *chain(model_change("m"), after="u3")])
    listed = items_of(api.client, f"{session}/entries")
    assert [item["kind"] for item in listed] == ["message", "message", "branch_summary", "message", "other"]
    assert (listed[2]["left_entry_id"], listed[2]["summary"], listed[2]["from_hook"]) == ("e0-4", "left", None)
    assert (listed[0]["message"], listed[0]["format"]) == (ENTRIES[0], "pi")
    assert [listed[index]["created_at"] for index in (0, 4)] == ["2026-03-01T12:00:00.250Z"] * 2


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_time_that_cannot_be_written_is_passed_over(api: Api, time: str) -> None:
    session = imported(api, [{**entry, "timestamp": time} for entry in ENTRIES])
    listed = items_of(api.client, f"{session}/entries")
    assert all(item["created_at"] >= api.get(session)["created_at"] for item in listed)


def test_an_imported_compaction_is_listed_and_can_be_undone(api: Api) -> None:
    session = imported(api, ENTRIES[:6])
    (made,) = api.get(f"{session}/compactions")["items"]
    assert (made["live"], made["reason"], made["first_kept_entry_id"]) == (True, "imported", "e0-3")
    assert "u1" not in str(api.get(f"{session}/context")["messages"])
    assert api.post(f"{session}/compactions/{made['id']}/undo")["undone"] == [made["id"]]
    assert "u1" in str(api.get(f"{session}/context")["messages"])


def test_a_session_goes_on_and_is_exported(api: Api) -> None:
    session = imported(api)
    (said,) = api.say(session, user("and on"))["entry_ids"]
    api.say(session, assistant("it goes"))
    api.post(f"{session}/branch", {"entry_id": said, "summarize": True})
    assert api.do_jobs()
    lines = lines_of(exported(api, session).text)
    assert lines[1:9] == ENTRIES
    assert [(line["type"], line["parentId"]) for line in lines[9:]] == [
        ("message", "u3"), ("message", said), ("branch_summary", said),
    ]  # fmt: skip
    assert len(lines_of(exported(api, imported_again(api, session)).text)) == len(lines)


def imported_again(api: Api, session: str) -> str:
    made = api.post("/import", {"file": exported(api, session).text, "id": next(NAMES)}, 201)
    return f"/sessions/{made['session']['id']}"


DEEP = '{"type":"thing","id":"x","parentId":"u1","data":' + "[" * 5000 + "]" * 5000 + "}\n"


@pytest.mark.parametrize(
    ("file", "line", "detail"),
    [
        ("", 1, "line 1: the file is empty"),
        (file_of(ENTRIES) + "{\n", 10, "line 10: not JSON"),
        (file_of([*ENTRIES, asks("u1")]), 10, "line 10: entry.id: 'u1' is empty or the id of an earlier entry"),
        (file_of([*ENTRIES, *chain(asks("x"), after="y")]), 10, "line 10: entry.parentId: 'y'"),
        (file_of(ENTRIES, version=4), 1, "line 1: header.version: 4 is not known; 1 to 3 are"),
        (file_of(ENTRIES) + "\n" + DEEP, 11, "line 11: nested deeper than 200 levels"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_imported(api: Api, file: str, line: int, detail: str) -> None:
    before = sessions(api)
    problem = api.problem("POST", "/import", {"file": file})
    assert (problem["name"], problem["status"], problem["path"]) == ("invalid-request", 422, "file")
    assert problem["line"] == line
    assert problem["detail"].startswith(detail)
    assert sessions(api) == before


@pytest.mark.parametrize(
    ("file", "line", "detail"),
    [
        *((file_of(ENTRIES, id=name), 1, "header.id: ") for name in ("", "a\0b", "a\ud800", "a/b", "x" * 9000, "漢")),
        *((file_of(ENTRIES, modelId=name), 1, "model: ") for name in ("a\0b", "a\ud800", "x" * 9000)),
        (file_of(chain(model_change("m", "a\0b"))), 2, "model: "),
        *(
            (file_of(chain(answer("a", usage={"input": tokens}))), 2, "entry.message.usage.input: ")
            for tokens in (-1, 2**31, 10**29)
        ),
    ],
)
def test_what_no_column_holds_is_refused_with_its_line(api: Api, file: str, line: int, detail: str) -> None:
    before = sessions(api)
    problem = api.problem("POST", "/import", {"file": file})
    assert (problem["name"], problem["status"], problem["line"]) == ("invalid-request", 422, line)
    assert problem["detail"].startswith(f"line {line}: {detail}")
    assert sessions(api) == before


def test_an_entry_that_no_model_sees_is_shown_as_the_file_has_it(api: Api) -> None:
    unseen = entry("new", "n", edits=[[1, 2]], reported="x")
    session = imported(api, chain(asks("u1"), unseen))
    shown = items_of(api.client, f"{session}/entries")[1]
    assert (shown["kind"], shown["tags"], shown["message"]) == ("other", {}, {**unseen, "parentId": "u1"})
    assert api.get(f"{session}/entries/{shown['id']}") == shown


def test_summaries_that_do_not_fit_the_window_are_refused(api: Api) -> None:
    entries = chain(asks("u1"), {**compaction("k", None), "summary": " fold" * 3000})
    body = {"file": file_of(entries, id="tight"), "context_window": 3000}
    problem = api.problem("POST", "/import", body)
    assert (problem["status"], problem["path"]) == (422, "context_window")


def test_an_id_that_is_used_is_a_conflict_and_changes_nothing(api: Api) -> None:
    session = imported(api)
    before = exported(api, session).text
    problem = api.problem("POST", "/import", {"file": before})
    assert (problem["name"], problem["status"]) == ("conflict", 409)
    assert exported(api, session).text == before


@pytest.mark.parametrize(
    ("fields", "name", "path"),
    [
        ({}, "invalid-request", "file"),
        ({"file": 1}, "invalid-request", "file"),
        ({"file": file_of([], provider=None)}, "invalid-request", "model"),
        ({"file": file_of([], modelId="none")}, "unknown-model", None),
        ({"file": file_of([]), "policy": {"preset": "none"}}, "invalid-request", "policy.preset"),
        ({"file": file_of([]), "context_window": 100}, "fixed-parts-do-not-fit", None),
        ({"file": file_of([]), "head": "u1"}, "invalid-request", "head"),
    ],
)
def test_what_makes_no_session_is_refused(api: Api, fields: Json, name: str, path: str | None) -> None:
    problem = api.problem("POST", "/import", fields)
    assert (problem["name"], problem["status"], problem.get("path")) == (name, 422, path)


def test_a_repeated_request_imports_once(api: Api) -> None:
    body = {"file": file_of(ENTRIES, id=next(NAMES))}
    first, second = (api.post("/import", body, 201, Idempotency_Key="once") for _ in range(2))
    assert first == second
    assert (
        api.problem("POST", "/import", {**body, "id": "other"}, Idempotency_Key="once")["name"]
        == "idempotency-mismatch"
    )


def test_a_session_that_is_not_there_is_not_exported(api: Api) -> None:
    problem = problem_of(exported(api, "/sessions/nowhere"))
    assert (problem["name"], problem["status"]) == ("not-found", 404)


@pytest.fixture(scope="module")
def keyed(module_database: str) -> Iterator[Api]:
    with open_api(module_database, api_keys="ann:private-key-of-ann,bob:private-key-of-bob") as opened:
        yield opened


def test_a_file_belongs_to_the_tenant_who_imported_it(keyed: Api) -> None:
    body = {"file": file_of(ENTRIES, id="anns")}
    ann, bob = ({"Authorization": f"Bearer private-key-of-{name}"} for name in ("ann", "bob"))
    assert problem_of(keyed.client.post("/import", json=body))["name"] == "unauthorized"
    assert keyed.client.post("/import", json=body, headers=ann).status_code == 201
    assert problem_of(keyed.client.get("/sessions/anns/export", headers=bob))["name"] == "not-found"
    assert keyed.client.post("/import", json=body, headers=bob).status_code == 201
    assert keyed.client.get("/sessions/anns/export", headers=ann).text == body["file"]
