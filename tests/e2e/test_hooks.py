"""Hooks of a package installed beside Foldline, over HTTP: their decisions on summaries, and the outcomes they get."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Final, TypeAlias

import pytest

from foldline.terminal import ExitCode
from tests.e2e.test_branches import alone, as_read, branch_summaries, leave, view_of
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, calling, result, user
from tests.support.processes.daemons import Daemon
from tests.support.processes.databases import Server
from tests.support.processes.deployment import Deployment, Installed, Json, installed
from tests.support.processes.hook_package import ADVICE, BY_HAND, HOOKS, REASON, RULES, install
from tests.support.processes.http import items_of
from tests.support.processes.program import foldline

pytestmark = pytest.mark.timeout(120)

Request: TypeAlias = Callable[[Deployment, str, str], str]

# Far below how long a hook of the package hangs.
HOOK_SECONDS: Final = 0.3
FAILURES: Final = ("hang", "fail", "babble")


@pytest.fixture(scope="module")
def scribed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with the outcomes that a hook got."""
    return tmp_path_factory.mktemp("outcomes") / "outcomes.jsonl"


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory, scribed: Path) -> dict[str, str]:
    return {**install(tmp_path_factory.mktemp("hooked"), RULES, **HOOKS), "SCRIBE_FILE": str(scribed)}


@pytest.fixture(scope="module")
def shared(
    postgresql: Server, tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]
) -> Iterator[tuple[Installed, Daemon]]:
    """An API process and a worker."""
    folder = tmp_path_factory.mktemp("logs")
    # Long enough for a hook that answers, on a busy machine too.
    with (
        postgresql.database() as database,
        installed(folder, database, FOLDLINE_HOOK_TIMEOUT_SECONDS="1", **variables) as deployment,
    ):
        yield deployment, deployment.start("worker")


@pytest.fixture
def deployment(shared: tuple[Installed, Daemon]) -> Installed:
    """A deployment in which a summary goes on without a hook that fails."""
    deployment, _ = shared
    deployment.llm.requests.clear()
    return deployment


@pytest.fixture
def worker(shared: tuple[Installed, Daemon]) -> Daemon:
    """The deployment's one worker."""
    return shared[1]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]) -> Iterator[Deployment]:
    """`foldline serve` where a job fails with its hook."""
    strictly = {"FOLDLINE_HOOKS_FAIL": "closed", "FOLDLINE_HOOK_TIMEOUT_SECONDS": str(HOOK_SECONDS)}
    with alone(tmp_path_factory.mktemp("strict"), **variables, **strictly) as deployment:
        yield deployment


def request_compaction(deployment: Deployment, session: str, instructions: str) -> str:
    """The id of a job for a compaction with these instructions."""
    body = {"summarize": True, "instructions": instructions}
    return str(deployment.post(f"{session}/compact", body, 202)["job"]["id"])


def request_branch_summary(deployment: Deployment, session: str, instructions: str) -> str:
    """The id of a job for the entries left by going back to the first answer."""
    entries = items_of(deployment.client, f"{session}/entries")
    return str(leave(deployment, session, entries[1]["id"], instructions=instructions)["job"]["id"])


def compactions(deployment: Deployment, session: str) -> list[Json]:
    return items_of(deployment.client, f"{session}/compactions")


def test_a_job_that_a_hook_cancels_says_who_and_why_and_changes_nothing(deployment: Deployment) -> None:
    session = deployment.new_session()
    before = view_of(deployment, session)

    job = deployment.wait_for(request_compaction(deployment, session, "cancel"), "cancelled")

    assert job["error"] == f"cancelled by the hook guard: {REASON}"
    assert (compactions(deployment, session), deployment.calls) == ([], 0)
    deployment.post(f"{session}/messages", {"messages": [user("and now?")]})
    assert view_of(deployment, session) == [*before, user("and now?")]
    deployment.wait_for(deployment.request_summary(session), "succeeded")
    assert deployment.summaries(session) == 1


def test_a_branch_whose_summary_a_hook_cancels_gets_none(deployment: Deployment) -> None:
    session = deployment.new_session()
    shared = view_of(deployment, session)[:2]

    job = deployment.wait_for(request_branch_summary(deployment, session, "cancel"), "cancelled")

    assert job["error"] == f"cancelled by the hook guard: {REASON}"
    assert (branch_summaries(deployment, session), deployment.calls) == ([], 0)
    assert view_of(deployment, session) == shared


def test_a_summary_that_a_hook_supplies_is_published_word_for_word_without_a_call(deployment: Deployment) -> None:
    session = deployment.new_session()

    job = deployment.wait_for(request_compaction(deployment, session, "supply"), "succeeded")

    (made,) = compactions(deployment, session)
    assert (made["id"], made["from_hook"]) == (job["compaction_id"], "guard")
    assert made["details"] == {"ticket": 7, "read_files": [], "modified_files": []}
    assert view_of(deployment, session)[0]["content"].endswith(f"\n{BY_HAND}")
    assert deployment.calls == 0


def test_a_branchs_summary_that_a_hook_supplies_is_its_entry_word_for_word(deployment: Deployment) -> None:
    session = deployment.new_session()

    job = deployment.wait_for(request_branch_summary(deployment, session, "supply"), "succeeded")

    (entry,) = branch_summaries(deployment, session)
    assert (entry["id"], entry["from_hook"], entry["summary"]) == (job["entry_id"], "guard", BY_HAND)
    assert entry["details"] == {"ticket": 7, "read_files": [], "modified_files": []}
    assert view_of(deployment, session)[-1] == as_read(BY_HAND)
    assert deployment.calls == 0


@pytest.mark.parametrize("request_of", [request_compaction, request_branch_summary])
def test_a_hooks_instructions_are_in_the_prompt_beside_the_users(deployment: Deployment, request_of: Request) -> None:
    job_id = request_of(deployment, deployment.new_session(), "advise: name the dates")

    deployment.wait_for(job_id, "succeeded")

    (request,) = deployment.llm.requests
    assert f"<instructions>\nadvise: name the dates\n\n{ADVICE}\n</instructions>" in request.prompt


@pytest.mark.parametrize("failure", FAILURES)
def test_a_hook_that_fails_is_gone_on_without_and_the_summary_is_the_models(
    deployment: Deployment, failure: str
) -> None:
    session = deployment.new_session()

    deployment.wait_for(request_compaction(deployment, session, failure), "succeeded")

    (made,) = compactions(deployment, session)
    assert (made["stages_used"], made["from_hook"], deployment.calls) == (["summarize"], None, 1)


@pytest.mark.parametrize("request_of", [request_compaction, request_branch_summary])
@pytest.mark.parametrize("failure", FAILURES)
def test_where_hooks_must_be_heard_a_job_fails_with_the_hook_that_did(
    strict: Deployment, failure: str, request_of: Request
) -> None:
    session = strict.new_session()

    job = strict.wait_for(request_of(strict, session, f"{failure}: a secret"), "failed")

    assert job["error"].startswith("the hook guard failed: ")
    assert "secret" not in job["error"]
    assert (compactions(strict, session), branch_summaries(strict, session)) == ([], [])
    assert not any("a secret" in request.prompt for request in strict.llm.requests)


def test_appends_do_not_wait_for_a_hook_that_hangs_on_a_job(strict: Deployment) -> None:
    session = strict.new_session()
    job_id = request_compaction(strict, session, "hang")
    eventually(lambda: strict.job(job_id)["state"] != "queued")

    seconds = [seconds_of(strict, session, "and then?")[0] for _ in range(5)]

    assert median(seconds) < HOOK_SECONDS
    strict.wait_for(job_id, "failed")


def test_appends_that_compact_do_not_wait_for_a_hook_that_hangs_on_an_outcome(strict: Deployment) -> None:
    strict.post("/sessions", {"id": "slow", "model": "nobody/nothing", "context_window": 2_000})
    answers = [seconds_of(strict, "/sessions/slow", f"{n} {'and so on ' * 100}") for n in range(12)]

    seconds = [seconds for seconds, answer in answers if answer["compaction"] and answer["compaction"]["stages_used"]]

    assert len(seconds) > 1
    assert min(seconds) < HOOK_SECONDS


def seconds_of(deployment: Deployment, session: str, text: str) -> tuple[float, Json]:
    """The duration of an append, and its response."""
    started = monotonic()
    answer = deployment.post(f"{session}/messages", {"messages": [user(text)]})
    return monotonic() - started, answer


def outcomes_of(scribed: Path, session: str) -> list[Json]:
    """The outcomes of a session that the hooks got so far."""
    # The last line may be half written.
    *whole, _ = scribed.read_text().split("\n") if scribed.exists() else [""]
    return [line for line in map(json.loads, whole) if session == f"/sessions/{line['session_id']}"]


def only_outcome(scribed: Path, session: str) -> Json:
    """The only outcome of a session, once the hooks have got it."""
    eventually(lambda: outcomes_of(scribed, session))
    (outcome,) = outcomes_of(scribed, session)
    return outcome


def test_hooks_get_the_outcome_of_an_inline_compaction_from_the_process_that_made_it(
    deployment: Installed, scribed: Path
) -> None:
    session = deployment.new_session(1)
    turns = [[user("look"), calling(name), result(name, "x y z " * 150), assistant("seen")] for name in "ab"]
    deployment.post(f"{session}/messages", {"messages": [message for turn in turns for message in turn]})
    answer = deployment.post(f"{session}/compact", {"summarize": False}, 200)
    assert answer["result"]["stages_used"] == ["prune"]

    outcome = only_outcome(scribed, session)

    (made,) = compactions(deployment, session)
    assert outcome["pid"] == deployment.api.process.pid
    assert (outcome["kind"], outcome["state"], outcome["entry_id"]) == ("compact", "succeeded", made["id"])
    figures = ("reason", "stages_used", "tokens_before", "tokens_after")
    assert {name: outcome["facts"][name] for name in figures} == {name: made[name] for name in figures}


def test_hooks_get_the_outcome_of_a_summary_from_the_worker_that_published_it(
    deployment: Deployment, worker: Daemon, scribed: Path
) -> None:
    session = deployment.new_session()
    job = deployment.wait_for(request_compaction(deployment, session, "supply"), "succeeded")

    outcome = only_outcome(scribed, session)

    assert outcome["pid"] == worker.process.pid
    assert (outcome["kind"], outcome["state"], outcome["entry_id"]) == ("compact", "succeeded", job["compaction_id"])
    assert (outcome["facts"]["from_hook"], outcome["facts"]["details"]["ticket"]) == ("guard", 7)


def test_hooks_get_the_outcome_of_a_branch_summary_from_the_process_that_placed_it(
    deployment: Installed, worker: Daemon, scribed: Path
) -> None:
    session = deployment.new_session()
    tip = items_of(deployment.client, f"{session}/entries")[-1]["id"]
    job = deployment.wait_for(leave(deployment, session, "e0-2")["job"]["id"], "succeeded")
    deployment.post(f"{session}/branch", {"entry_id": tip}, 200)
    again = leave(deployment, session, "e0-2")

    eventually(lambda: len(outcomes_of(scribed, session)) == 2)

    by_worker, by_api = sorted(outcomes_of(scribed, session), key=lambda outcome: str(outcome["entry_id"]))
    assert (by_worker["pid"], by_worker["entry_id"]) == (worker.process.pid, job["entry_id"])
    assert (by_api["pid"], by_api["entry_id"]) == (deployment.api.process.pid, again["summary_entry_id"])
    (entry,) = branch_summaries(deployment, session)
    for outcome in (by_worker, by_api):
        assert (outcome["kind"], outcome["state"], outcome["facts"]["summary"]) == (
            "branch",
            "succeeded",
            entry["summary"],
        )


def test_hooks_get_the_outcome_of_a_cancelled_job(deployment: Deployment, scribed: Path) -> None:
    session = deployment.new_session()
    job = deployment.wait_for(request_compaction(deployment, session, "cancel"), "cancelled")

    outcome = only_outcome(scribed, session)

    assert (outcome["kind"], outcome["state"], outcome["job_id"]) == ("compact", "cancelled", job["id"])
    assert (outcome["entry_id"], outcome["error"]) == (None, job["error"])


def test_a_process_says_which_hooks_it_has(deployment: Installed, worker: Daemon) -> None:
    for process in (deployment.api, worker):
        assert "hooks: guard, scribe, sloth\n" in process.printed


# By the command that meets it: the module of a package that is wrong, and a word of what is said of it.
BROKEN: Final = {
    "serve": ("import nothing_of_this_name", "nothing_of_this_name"),
    "api": ("raise RuntimeError('a secret')", "RuntimeError"),
    "worker": ("class Guard: pass", "before_compact"),
}


@pytest.mark.parametrize("command", BROKEN)
def test_a_process_whose_hook_cannot_be_loaded_ends_at_once_and_says_which(
    deployment: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    source, said = BROKEN[command]
    settings = {"FOLDLINE_PORT": "0", **install(tmp_path, source, guard="Guard")}
    if command == "serve":
        settings["FOLDLINE_DATABASE_URL"] = f"sqlite:///{tmp_path}/foldline.db"
    else:
        settings["FOLDLINE_DATABASE_URL"] = deployment.database_url
        settings["FOLDLINE_BROKER_URL"] = "redis://127.0.0.1:1/0"
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    done = foldline(command)

    printed = " ".join(done.stderr.split())
    assert done.returncode == ExitCode.BAD_INPUT
    assert "the hook guard cannot be used: " in printed
    assert said in printed
    assert "secret" not in printed
    assert "Traceback" not in printed
    assert "listening" not in done.stdout
