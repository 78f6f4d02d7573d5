"""An agent goes on while its summary is written slowly and badly: what it used then is in the published summary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.test_branches import alone
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, user
from tests.support.processes.deployment import Deployment, Json
from tests.support.processes.hook_package import install
from tests.support.processes.scripted_llm import Reply

pytestmark = pytest.mark.timeout(120)

FACT: Final = "The old relay reads src/relays/outbox.py and listens on port 8443."
OTHER: Final = "The new relay reads src/relays/inbox.py and listens on port 9101."
USING: Final = "Next I connect to port 8443 as before."
IDLE: Final = "Next I have another look at it."
STORY: Final = "## Decided\n- The work on the relay went on, and so on and on, and all of it went well."
BY_MODEL: Final = "model"
# Two hooks in one: by the model's story, or by hand once the test says so.
PATIENT: Final = f"""
    import os
    from pathlib import Path
    from threading import Event

    class Patient:
        def before_compact(self, preparation):
            if preparation.request.instructions == {BY_MODEL!r}:
                return None
            signal, pause = Path(os.environ["SIGNAL_FILE"]), Event()
            while not signal.exists():
                pause.wait(0.01)
            signal.unlink()
            return {{"summary": {STORY!r}}}
"""


@pytest.fixture(scope="module")
def signal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file for which the hook waits."""
    return tmp_path_factory.mktemp("signals") / "go"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, signal: Path) -> Iterator[Deployment]:
    variables = install(tmp_path_factory.mktemp("hooked"), PATIENT, patient="Patient")
    settings = {**variables, "SIGNAL_FILE": str(signal), "FOLDLINE_HOOK_TIMEOUT_SECONDS": "60"}
    with alone(tmp_path_factory.mktemp("alone"), **settings) as deployed:
        yield deployed


def session_of(deployment: Deployment) -> str:
    """A session whose beginning names what the agent needs later."""
    body = {"model": "nobody/nothing", "context_window": 4_000, "auto_compact": False}
    session = f"/sessions/{deployment.post('/sessions', body)['id']}"
    words = "so it goes on and on " * 20
    turns = [message for n in range(4) for message in (user(f"{n} {words}"), assistant(f"{n} {words}"))]
    deployment.post(f"{session}/messages", {"messages": [user(f"{FACT} {OTHER}"), assistant("Good."), *turns]})
    return session


def begun(deployment: Deployment, session: str, instructions: str) -> str:
    """The id of a job for a summary, once it is under way."""
    body = {"summarize": True, "instructions": instructions}
    job_id = str(deployment.post(f"{session}/compact", body, 202)["job"]["id"])
    eventually(lambda: deployment.job(job_id)["state"] == "running")
    return job_id


def say(deployment: Deployment, session: str, job_id: str, text: str) -> None:
    """Append this while the summary is written."""
    deployment.post(f"{session}/messages", {"messages": [assistant(text)]})
    assert deployment.job(job_id)["state"] == "running"


def published(deployment: Deployment, session: str, job_id: str) -> Json:
    """The compaction with the summary, once it is in the view."""
    deployment.wait_for(job_id, "succeeded")
    made: Json = deployment.get(f"{session}/compactions/{deployment.job(job_id)['compaction_id']}")
    shown = str(deployment.get(f"{session}/context")["messages"]).replace("\\n", "\n")
    assert made["summary"] in shown
    return made


def test_a_fact_that_is_used_while_a_hook_writes_without_it_is_added_and_counted(
    deployment: Deployment, signal: Path
) -> None:
    session = session_of(deployment)
    job_id = begun(deployment, session, "by hand")
    say(deployment, session, job_id, USING)
    signal.touch()

    made = published(deployment, session, job_id)

    assert made["summary"].startswith(STORY)
    assert FACT in made["summary"]
    assert OTHER not in made["summary"]
    assert made["details"]["patched_by_use"] == 1


def test_a_summary_stays_as_its_hook_wrote_it_if_nothing_is_used(deployment: Deployment, signal: Path) -> None:
    session = session_of(deployment)
    job_id = begun(deployment, session, "by hand")
    say(deployment, session, job_id, IDLE)
    signal.touch()

    made = published(deployment, session, job_id)

    assert made["summary"] == STORY
    assert "patched_by_use" not in made["details"]


def test_beside_a_models_slow_and_poor_story_the_ledger_has_the_fact_already(deployment: Deployment) -> None:
    deployment.llm.default = Reply(text=STORY, delay_seconds=5)
    session = session_of(deployment)
    job_id = begun(deployment, session, BY_MODEL)
    say(deployment, session, job_id, USING)

    made = published(deployment, session, job_id)

    assert FACT in made["summary"]
    assert "patched_by_use" not in made["details"]
