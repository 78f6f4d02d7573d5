"""Sessions with something to summarize, and the states of their jobs, through a store."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from foldline.engine.formats import FORMATS
from foldline.log.compaction import trigger
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.storage import paths
from foldline.log.storage.store import Store
from foldline.log.storage.tables import JOB
from foldline.log.use_cases import append, lifecycle
from tests.support.eventually import eventually

TENANT = "acme"
SAID = "please look at the file again and say more about its configuration "


class Work:
    """What a client does to a store, and what its workers make of it."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add_session(self, name: str) -> str:
        """The id of a session with a history that could be summarized, and is under its trigger."""
        with self.store.write() as tx:
            lifecycle.create(tx, TENANT, lifecycle.NewSession(model="openai/any", id=name, context_window=4000))
        for number in range(6):
            self.append(name, f"question {number}: {SAID * 12}", f"answer {number}: {SAID * 12}")
        return name

    def append(self, session: str, question: str, answer: str) -> None:
        messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        drafts = append.prepare(FORMATS["openai"].parse(messages))
        with self.store.write() as tx:
            append.append(tx, TENANT, session, drafts)

    def request_summary(self, session: str, instructions: str | None = None) -> str:
        """The id of the job for a requested summary."""
        with self.store.write() as tx:
            path = paths.open_head(tx, TENANT, session, lock=True)
            step = trigger.compact_now(tx, path, SummaryRequest(is_asked=True, instructions=instructions))
            paths.save(tx, path)
        assert step.request
        assert step.request.job_id
        return step.request.job_id

    def queue_automatic(self, session: str) -> str:
        """The id of the job that the trigger queues for a session over it."""
        jobs_before = len(self.jobs())
        while len(self.jobs()) == jobs_before:
            self.append(session, SAID * 12, SAID * 12)
        return str(self.jobs()[-1].id)

    def jobs(self) -> list[Any]:
        with self.store.read() as tx:
            return list(tx.execute(select(JOB).order_by(JOB.c.number)))

    def job(self, job_id: str) -> Any:
        return next(job for job in self.jobs() if job.id == job_id)

    def ends(self, job_id: str, state: str, seconds: float = 10.0) -> None:
        eventually(lambda: self.job(job_id).state == state, seconds)
