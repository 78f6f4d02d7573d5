"""Foldline as in production, on this machine: real processes, a real broker and database, and a scripted summarizer.

`deployed` is a stack, whose processes come back when they die. `installed` is ready in a tenth of the time: a test
starts the processes that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx

from stack.services.servers import valkey
from stack.stack import Stack
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, user
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.http import client
from tests.support.processes.scripted_llm import ScriptedLLM

Json = dict[str, Any]

LEASE_SECONDS: Final = 4
SWEEP_SECONDS: Final = 1
# Both, and what a process needs to start on a busy machine.
PATIENCE_SECONDS: Final = 60.0
WORDS: Final = "so it goes on and on " * 20
ENDED: Final = frozenset({"succeeded", "failed", "superseded", "cancelled"})
_KEYS = count()


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack, the summarizer that its workers call, and a client of its first API process."""

    stack: Stack
    llm: ScriptedLLM
    client: httpx.Client

    @property
    def calls(self) -> int:
        """The number of calls of the summarizer."""
        return len(self.llm.requests)

    def post(self, path: str, body: Any = None, status: int = 201) -> Any:
        response = self.client.post(path, json=body)
        assert response.status_code == status, response.text[:500]
        return response.json()

    def get(self, path: str) -> Any:
        response = self.client.get(path)
        assert response.status_code == 200, response.text[:500]
        return response.json()

    def new_session(self, turns: int = 3) -> str:
        """The path of a session with something to summarize, which compacts only on request."""
        body = {"model": "nobody/nothing", "context_window": 2_000, "auto_compact": False}
        session = f"/sessions/{self.post('/sessions', body)['id']}"
        said = [message for n in range(turns) for message in (user(f"{n} {WORDS}"), assistant(f"{n} {WORDS}"))]
        self.post(f"{session}/messages", {"messages": said})
        return session

    def request_summary(self, session: str) -> str:
        """The id of the job for a requested summary."""
        job: Json = self.post(f"{session}/compact", {"summarize": True}, 202)["job"]
        return str(job["id"])

    def job(self, job_id: str) -> Json:
        job: Json = self.get(f"/jobs/{job_id}")
        return job

    def wait_for(self, job_id: str, state: str) -> Json:
        """The job once it is in this state."""
        eventually(lambda: self.job(job_id)["state"] == state, PATIENCE_SECONDS)
        return self.job(job_id)

    def wait_until_ended(self, job_ids: Sequence[str]) -> list[Json]:
        """The jobs once each of them has ended."""
        for job_id in job_ids:
            eventually(lambda job_id=job_id: self.job(job_id)["state"] in ENDED, PATIENCE_SECONDS)  # type: ignore[misc]
        return [self.job(job_id) for job_id in job_ids]

    def summaries(self, session: str) -> int:
        """How many summaries were published in a session."""
        items = self.get(f"{session}/compactions")["items"]
        return sum("summarize" in item["stages_used"] for item in items)

    def wait_until_whole(self) -> None:
        """Wait until every process runs, and the API reports no missing part."""
        eventually(lambda: all(member.is_ready for member in self.stack.members), PATIENCE_SECONDS)
        eventually(lambda: self._readiness() == "ok", PATIENCE_SECONDS)

    def _readiness(self) -> str:
        try:
            return str(self.client.get("/readyz").json()["status"])
        except httpx.HTTPError:
            return "away"


def append_surely(urls: Sequence[str], session: str, messages: Sequence[Json]) -> tuple[list[str], int]:
    """Append once, however often it takes: the entry ids, and how many tries were refused or came to nothing.

    This is how a client is meant to do it: one key for all tries, another process for each.
    """
    key = {"Idempotency-Key": f"append-{next(_KEYS)}"}
    found: list[str] = []
    tries = count()

    def is_answered() -> bool:
        with client(urls[next(tries) % len(urls)]) as connected:
            try:
                response = connected.post(f"{session}/messages", json={"messages": list(messages)}, headers=key)
            except httpx.TransportError:
                return False
        if response.status_code == httpx.codes.CREATED:
            found.extend(response.json()["entry_ids"])
            return True
        # In flight, or the database is away: both say when to come back. If it broke off in a commit, nothing does, as
        # that would invite clients to do it twice.
        assert response.status_code in {httpx.codes.CONFLICT, httpx.codes.SERVICE_UNAVAILABLE}, response.text[:500]
        is_unknown = response.json()["type"] == "/problems/outcome-unknown"
        assert is_unknown != bool(response.headers.get("retry-after")), response.text[:500]
        return False

    eventually(is_answered, PATIENCE_SECONDS)
    return found, next(tries) - 1


def append_without_key(url: str, session: str, message: Json) -> tuple[bool, int]:
    """Append as a client without keys may: whether it is known to be done, and how often it was repeated.

    What the service says may be repeated is repeated; what may be done already is not.
    """
    known: list[bool] = []
    tries = count()

    def is_over() -> bool:
        next(tries)
        with client(url) as connected:
            try:
                response = connected.post(f"{session}/messages", json={"messages": [message]})
            except httpx.TransportError:
                known.append(False)
                return True
        assert response.status_code in {httpx.codes.CREATED, httpx.codes.SERVICE_UNAVAILABLE}, response.text[:500]
        if response.is_success or "retry-after" not in response.headers:
            known.append(response.is_success)
        return bool(known)

    eventually(is_over, PATIENCE_SECONDS)
    return known[0], next(tries) - 1


def asks(llm: ScriptedLLM) -> dict[str, str]:
    """The settings of a worker that asks this summarizer."""
    return {
        "FOLDLINE_SUMMARIZER": "openai",
        "FOLDLINE_SUMMARIZER_BASE_URL": llm.base_url,
        "FOLDLINE_SUMMARIZER_MODEL": "scripted",
    }


@contextmanager
def deployed(*, apis: int = 1, workers: int = 2, **environment: str) -> Iterator[Deployment]:
    """A deployment that is ready; leases and sweeps are short, so that it recovers soon."""
    with ScriptedLLM() as llm:
        settings = {
            "FOLDLINE_LEASE_SECONDS": str(LEASE_SECONDS),
            "FOLDLINE_SWEEP_SECONDS": str(SWEEP_SECONDS),
            **asks(llm),
            **environment,
        }
        with (
            Stack(apis=apis, workers=workers, environment=settings, without=("flower",)) as stack,
            client(stack.api_url) as connected,
        ):
            yield Deployment(stack, llm, connected)


@dataclass(frozen=True, slots=True)
class Installed(Deployment):
    """An API process, and whatever is started beside it; nothing is in its stack, and what dies does not come back."""

    api: Daemon
    database_url: str
    _folder: Path
    _variables: Mapping[str, str]
    _running: ExitStack

    def start(self, command: str) -> Daemon:
        """A worker, beat or another API process, once it is ready."""
        return self._running.enter_context(_daemon(self._folder, command, self._variables))


# What a process prints when it is ready.
READY: Final = {"api": r"listening on http\S+", "worker": "ready:", "beat": "beat: Starting"}


def _daemon(folder: Path, command: str, variables: Mapping[str, str]) -> AbstractContextManager[Daemon]:
    options = ("--port", "0") if command == "api" else ()
    return daemon(folder, command, *options, until=READY[command], variables=variables)


def url_of(api: Daemon) -> str:
    return api.ready.removeprefix("listening on ")


@contextmanager
def installed(folder: Path, database_url: str, **environment: str) -> Iterator[Installed]:
    """An installation on this database; the logs go into the folder."""
    with ScriptedLLM() as llm, valkey() as broker, ExitStack() as running:
        variables = {
            "FOLDLINE_DATABASE_URL": database_url,
            "FOLDLINE_BROKER_URL": broker.url,
            **asks(llm),
            **environment,
        }
        api = running.enter_context(_daemon(folder, "api", variables))
        with client(url_of(api)) as connected:
            yield Installed(Stack(), llm, connected, api, database_url, folder, variables, running)
