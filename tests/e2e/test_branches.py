"""Branch summaries over HTTP: the worker's summary is added once, to the branch that the head moved to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from foldline.engine.formats.rules import check
from foldline.engine.wording import BRANCH, UNANSWERED
from foldline.log.storage.store import Store
from stack.stack import Stack
from tests.e2e.test_serve import serving
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, calling, problem_of, result, user
from tests.support.processes.databases import Server
from tests.support.processes.deployment import Deployment, Installed, Json, asks, installed
from tests.support.processes.http import client, items_of
from tests.support.processes.scripted_llm import ScriptedLLM, slow

pytestmark = pytest.mark.timeout(120)

# Whatever is longer than its reserve: of a branch left in a smaller one, only the newest message is read.
WINDOW = 32_000
SAID = [user("on the shared line"), assistant("yes"), user("try the parser"), assistant("the parser drops commas")]
INSTRUCTIONS = "say what was found out about the parser"


@pytest.fixture
def deployment(postgresql: Server, tmp_path: Path) -> Iterator[Installed]:
    """An API process that has no worker yet, with short leases and beat."""
    with (
        postgresql.database() as database,
        installed(tmp_path, database, FOLDLINE_LEASE_SECONDS="2", FOLDLINE_SWEEP_SECONDS="0.5") as deployment,
    ):
        deployment.start("beat")
        yield deployment


@contextmanager
def alone(folder: Path, **variables: str) -> Iterator[Deployment]:
    """`foldline serve` on SQLite, seen as a deployment; it is one process, so nothing is in its stack."""
    with ScriptedLLM() as llm, serving(folder, {**asks(llm), **variables}) as (_, url), client(url) as connected:
        yield Deployment(Stack(), llm, connected)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with alone(tmp_path_factory.mktemp("alone")) as deployment:
        yield deployment


@pytest.fixture
def served(shared: Deployment) -> Deployment:
    """`foldline serve`, whose model was asked nothing yet."""
    shared.llm.requests.clear()
    return shared


def session_of(deployment: Deployment, *messages: Json) -> tuple[str, list[str]]:
    """The path of a session with these messages, and the ids of its entries."""
    session = f"/sessions/{deployment.post('/sessions', {'model': 'nobody/nothing', 'context_window': WINDOW})['id']}"
    return session, say(deployment, session, *messages)


def say(deployment: Deployment, session: str, *messages: Json) -> list[str]:
    ids: list[str] = deployment.post(f"{session}/messages", {"messages": list(messages)})["entry_ids"]
    return ids


def leave(deployment: Deployment, session: str, entry_id: str, **fields: object) -> Json:
    """The response to a move that requests a summary of the entries it leaves."""
    moved: Json = deployment.post(f"{session}/branch", {"entry_id": entry_id, "summarize": True, **fields}, 200)
    return moved


def branch_summaries(deployment: Deployment, session: str) -> list[Json]:
    """The branch summaries on the head's path."""
    return [item for item in items_of(deployment.client, f"{session}/entries") if item["kind"] == "branch_summary"]


def view_of(deployment: Deployment, session: str, query: str = "") -> list[Json]:
    """The view, checked against the rules of its format."""
    view = deployment.get(f"{session}/context?format=openai{query}")
    assert check("openai", view["messages"], view["system"]) == []
    messages: list[Json] = view["messages"]
    return messages


def as_read(summary: str) -> Json:
    """The message that shows a branch summary to a model."""
    return {"role": "user", "content": f"{BRANCH}\n{summary}"}


def wait_for_a_sweep(deployment: Installed) -> None:
    """Wait for a sweep that begins after this call, and removes what was deleted."""
    session, _ = session_of(deployment, user("gone"))
    assert deployment.client.delete(session).status_code == 204
    store = Store(deployment.database_url)
    try:
        eventually(lambda: not has_deleted(store))
    finally:
        store.close()


def has_deleted(store: Store) -> bool:
    with store.read() as tx:
        found = tx.execute(text("SELECT count(*) FROM session WHERE deleted_at IS NOT NULL"))
        return bool(found.scalar_one())


def test_a_branch_is_summarized_once_though_its_worker_was_killed_in_mid_summary(deployment: Installed) -> None:
    worker = deployment.start("worker")
    session, ids = session_of(deployment, *SAID)
    deployment.llm.script(slow(60))
    moved = leave(deployment, session, ids[1], instructions=INSTRUCTIONS)
    eventually(lambda: deployment.calls == 1)
    job = deployment.job(moved["job"]["id"])
    assert (job["kind"], job["state"], job["attempts"]) == ("branch_summary", "running", 1)
    meanwhile = [user("meanwhile"), assistant("something else")]
    say(deployment, session, *meanwhile)
    deployment.start("worker")

    worker.process.kill()

    job = deployment.wait_for(job["id"], "succeeded")
    assert (job["attempts"], deployment.calls, deployment.llm.disconnects) == (2, 2, 1)
    for _ in range(2):
        wait_for_a_sweep(deployment)
    (entry,) = branch_summaries(deployment, session)
    assert (entry["id"], entry["left_entry_id"], entry["from_hook"]) == (job["entry_id"], ids[-1], None)
    assert view_of(deployment, session) == [*SAID[:2], *meanwhile, as_read(entry["summary"])]
    assert [listed["id"] for listed in items_of(deployment.client, f"{session}/jobs")] == [job["id"]]


def test_the_prompt_says_that_the_branch_was_left_and_has_the_instructions(served: Deployment) -> None:
    session, ids = session_of(served, *SAID)

    job = leave(served, session, ids[1], instructions=INSTRUCTIONS)["job"]

    served.wait_for(job["id"], "succeeded")
    (request,) = served.llm.requests
    assert "a branch that was left" in request.prompt
    assert INSTRUCTIONS in request.prompt
    assert "the parser drops commas" in request.prompt
    assert "on the shared line" not in request.prompt


def test_the_files_of_a_branch_that_was_left_are_listed(served: Deployment) -> None:
    session, ids = session_of(served, *SAID, reading("notes.md"), result("a"), assistant("read"))

    job = served.wait_for(leave(served, session, ids[1])["job"]["id"], "succeeded")

    (entry,) = branch_summaries(served, session)
    assert entry["id"] == job["entry_id"]
    assert entry["details"] == {"read_files": ["notes.md"], "modified_files": []}


def reading(path: str) -> Json:
    function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}


def test_a_summary_that_comes_while_a_call_is_open_leaves_the_call_with_its_result(served: Deployment) -> None:
    shared = [user("look twice"), calling("a", "b"), result("a", "blue")]
    session, ids = session_of(served, *shared, result("b", "green, there"), assistant("they differ"))
    moved = leave(served, session, ids[2])
    assert moved["open_calls"] == ["b"]

    served.wait_for(moved["job"]["id"], "succeeded")

    (entry,) = branch_summaries(served, session)
    summary = as_read(entry["summary"])
    assert problem_of(served.client.get(f"{session}/context"))["name"] == "calls-open"
    *before, stub, last = view_of(served, session, "&open=stub")
    assert ([*before, last], stub["tool_call_id"]) == ([*shared, summary], "b")
    assert UNANSWERED in stub["content"]
    say(served, session, result("b", "green, here"))
    assert view_of(served, session) == [*shared, result("b", "green, here"), summary]


def test_what_leaves_nothing_behind_has_no_job(served: Deployment) -> None:
    session, ids = session_of(served, *SAID)
    stayed = leave(served, session, ids[-1])
    served.post(f"{session}/branch", {"entry_id": ids[1]}, 200)
    forward = leave(served, session, ids[-1])

    assert (stayed["job"], stayed["summary_entry_id"]) == (None, None)
    assert (forward["job"], forward["summary_entry_id"]) == (None, None)
    assert view_of(served, session) == SAID


def test_instructions_without_a_summary_request_are_refused(served: Deployment) -> None:
    session, ids = session_of(served, *SAID)

    answer = served.client.post(f"{session}/branch", json={"entry_id": ids[1], "instructions": INSTRUCTIONS})

    problem = problem_of(answer)
    assert (problem["status"], problem["name"]) == (422, "invalid-request")
    assert view_of(served, session) == SAID


def test_leaving_the_same_again_takes_the_text_that_was_written_for_it(served: Deployment) -> None:
    session, ids = session_of(served, *SAID)
    calls_before = served.calls
    job = served.wait_for(leave(served, session, ids[1])["job"]["id"], "succeeded")
    (first,) = branch_summaries(served, session)
    served.post(f"{session}/branch", {"entry_id": ids[-1]}, 200)
    assert branch_summaries(served, session) == []

    again = leave(served, session, ids[1])

    (second,) = branch_summaries(served, session)
    assert (again["job"], again["summary_entry_id"]) == (None, second["id"])
    assert second["id"] != first["id"] == job["entry_id"]
    assert second["summary"] == first["summary"]
    assert served.calls == calls_before + 1


def test_a_summary_that_is_on_the_path_is_not_added_to_it_again(served: Deployment) -> None:
    session, ids = session_of(served, *SAID)
    job = served.wait_for(leave(served, session, ids[1])["job"]["id"], "succeeded")
    (there,) = say(served, session, user("and on"))
    served.post(f"{session}/branch", {"entry_id": ids[-1]}, 200)

    back = leave(served, session, there)

    (entry,) = branch_summaries(served, session)
    assert (back["job"], back["summary_entry_id"]) == (None, entry["id"])
    assert entry["id"] == job["entry_id"]
    assert view_of(served, session) == [*SAID[:2], as_read(entry["summary"]), user("and on")]
