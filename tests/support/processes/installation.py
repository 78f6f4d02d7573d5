"""A database and a broker, each real, and Foldline's commands as processes beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from celery import Celery
from foldline_worker.app import create_celery
from foldline_worker.broker.notifier import Notifier, notifying
from redis import Redis
from sqlalchemy import select

from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION
from foldline.settings import load_settings
from stack.services.servers import BackingService, valkey
from tests.support.log.work import Work
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.databases import Server
from tests.support.processes.scripted_llm import ScriptedLLM

NEVER_SECONDS: Final = 3600
# A worker's tries to connect are a second apart.
BACK_SECONDS: Final = 5.0


@dataclass
class Installation(Work):
    """A database and a broker, a client that works on them, and the processes started beside it."""

    broker: BackingService
    folder: Path
    store: Store
    stack: ExitStack
    celery: Celery
    sessions: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: str, until: str = "ready:", **variables: str) -> Daemon:
        context = daemon(self.folder, *arguments, until=until, variables=self.variables | variables)
        return self.stack.enter_context(context)

    def worker(self, *options: str, **variables: str) -> Daemon:
        return self.start("worker", *options, **variables)

    def queue(self) -> str:
        """The id of a job that waits in the interactive queue, with its notification sent."""
        self.sessions += 1
        return self.request_summary(self.add_session(f"s{self.sessions}"))

    def is_done(self, seconds: float = BACK_SECONDS) -> None:
        """A job that is queued now gets done."""
        self.ends(self.queue(), "succeeded", seconds)

    def send(self, task: str, queue: str, **options: Any) -> None:
        self.celery.send_task(task, queue=queue, **options)

    def kept_sessions(self) -> set[str]:
        """The names of sessions that still have rows, deleted ones included."""
        with self.store.read() as tx:
            return set(tx.execute(select(SESSION.c.id)).scalars())

    def client(self) -> Redis:
        client: Redis = self.stack.enter_context(Redis.from_url(self.broker.url))
        return client


@pytest.fixture
def installation(postgresql: Server, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        url = stack.enter_context(postgresql.database())
        broker = stack.enter_context(valkey(is_own=True))
        settings = load_settings(database_url=url, broker_url=broker.url)
        store = Store(url)
        stack.callback(store.close)
        celery = stack.enter_context(create_celery(settings))
        stack.enter_context(notifying(Notifier(celery), store, 1.0))
        variables = {
            "FOLDLINE_DATABASE_URL": url,
            "FOLDLINE_BROKER_URL": broker.url,
            "FOLDLINE_SWEEP_SECONDS": str(NEVER_SECONDS),
        }
        yield Installation(broker, tmp_path, store, stack, celery, variables=variables)


@pytest.fixture
def llm(installation: Installation) -> Iterator[ScriptedLLM]:
    """An endpoint for workers that are started after it; by default it answers at once."""
    with ScriptedLLM() as served:
        installation.variables |= {
            "FOLDLINE_SUMMARIZER": "openai",
            "FOLDLINE_SUMMARIZER_BASE_URL": served.base_url,
            "FOLDLINE_SUMMARIZER_MODEL": "scripted",
        }
        yield served
