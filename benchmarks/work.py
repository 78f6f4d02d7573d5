"""Small sessions to summarize, their jobs, and a slow model for the worker that runs them."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from foldline_worker.app import create_celery
from foldline_worker.broker.notifier import Notifier, notifying

from benchmarks.processes import running, serving
from foldline.engine.formats import FORMATS
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import admin
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import append, compact, lifecycle
from foldline.settings import Settings
from stack.processes.waiting import comes_true
from stack.stack import Stack

STOP_SECONDS: Final = 10.0
ARRIVE_SECONDS: Final = 60.0
PUBLISH_SECONDS: Final = 60.0
NEW: Final = lifecycle.NewSession("nobody/nothing", context_window=2_000, auto_compact=False)
WORDS: Final = "so it goes on and on " * 20
SAID: Final = [{"role": role, "content": f"{turn} {WORDS}"} for turn in range(3) for role in ("user", "assistant")]


def new_sessions(store: Store, tenant: str, number: int) -> list[str]:
    """The ids of `number` new sessions of a few hundred tokens, which compact only on request."""
    drafts = append.prepare(FORMATS["openai"].parse(SAID))
    with store.write() as tx:
        ids = [lifecycle.create(tx, tenant, NEW).session.id for _ in range(number)]
        for session_id in ids:
            append.append(tx, tenant, session_id, drafts)
    return ids


def request_summary(tx: Transaction, tenant: str, session_id: str) -> None:
    """Queue the job of a requested summary."""
    compact.compact(tx, tenant, session_id, SummaryRequest(is_asked=True), summarize=True)


def wait_until_published(store: Store, tenant: str, number: int) -> None:
    """Wait until `number` jobs of the tenant have published their summaries.

    Raises:
        RuntimeError: they did not.
    """
    if not comes_true(lambda: count_by_state(store, tenant).get("succeeded") == number, PUBLISH_SECONDS):
        message = f"of {number} jobs, there are {count_by_state(store, tenant)}"
        raise RuntimeError(message)


def count_by_state(store: Store, tenant: str) -> dict[str, int]:
    """The number of the tenant's jobs in each state."""
    with store.read() as tx:
        return admin.count_by_state(tx, admin.Chosen(tenant=tenant))


@dataclass(frozen=True, slots=True)
class Summarizer:
    """The address of a slow model, which remembers when its requests arrived."""

    url: str

    def arrival(self, number: int) -> float:
        """The `time.monotonic()` at which request `number`, from 0, arrived; waits for it.

        Raises:
            TimeoutError: it did not come.
        """
        return self._answer(f"/arrivals/{number}")

    def arrival_after(self, moment: float) -> float:
        """The time at which the first request after a moment arrived; waits for it.

        Raises:
            TimeoutError: none came.
        """
        return self._answer(f"/arrivals/after/{moment}")

    def _answer(self, path: str) -> float:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=ARRIVE_SECONDS)
        connection.request("GET", path)
        arrived = float(connection.getresponse().read())
        connection.close()
        return arrived


@contextmanager
def summarizing(
    folder: Path, stack: Stack, *worker_options: str, delay_seconds: float, workers: int = 1
) -> Iterator[Summarizer]:
    """The slow model of so many workers of the stack, once they are ready."""
    with serving(folder, "benchmarks.slow_llm", "--delay", str(delay_seconds)) as url, ExitStack() as opened:
        environment = {
            "FOLDLINE_DATABASE_URL": stack.database_url,
            "FOLDLINE_BROKER_URL": stack.broker_url,
            "FOLDLINE_SUMMARIZER": "openai",
            "FOLDLINE_SUMMARIZER_BASE_URL": f"{url}/v1",
            "FOLDLINE_SUMMARIZER_MODEL": "slow",
            "PYTHONUNBUFFERED": "1",
        }
        for number in range(workers):
            own = folder / f"worker-{number}"
            own.mkdir(exist_ok=True)
            worker = running(own, "foldline.cli.main", "worker", *worker_options, until="ready", **environment)
            opened.enter_context(worker)
        yield Summarizer(url)


@contextmanager
def notifying_store(stack: Stack) -> Iterator[Store]:
    """The stack's database, which notifies workers as an API process does."""
    store = Store(stack.database_url)
    with create_celery(Settings(broker_url=stack.broker_url)) as app, notifying(Notifier(app), store, STOP_SECONDS):
        yield store
    store.close()
