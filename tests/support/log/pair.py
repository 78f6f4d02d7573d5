"""A session on a real database and its reference: both get the same calls and must give the same results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import select

from foldline.engine.errors import CompactionError
from foldline.engine.formats import FORMATS
from foldline.engine.ledger.assemble import assemble
from foldline.engine.messages import Message
from foldline.engine.summaries.meanwhile import with_used
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wire import dumps, loads
from foldline.log.compaction import summary_request
from foldline.log.compaction.usage import Usage
from foldline.log.errors import SessionsError
from foldline.log.jobs import claims, endings, leases, publish, sweeps
from foldline.log.jobs.leases import Claim
from foldline.log.jobs.writing.meanwhile import said_meanwhile
from foldline.log.storage import entry_log, paths
from foldline.log.storage.fixed_parts import pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import JOB
from foldline.log.use_cases import append, branches, compact, lifecycle, pins, undo, views
from tests.support.log.reference import Reference
from tests.support.log.reference_parts import Job, ReferenceRequest, Refused, fold
from tests.support.log.sessions import TENANT, Clock, Wire

Real: TypeAlias = Callable[[Transaction], Any]
SESSION = "s"


class Numbering:
    """Ids that can be foretold: `job_1`, `job_2`, …"""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        self.taken[prefix] = self.taken.get(prefix, 0) + 1
        return f"{prefix}_{self.taken[prefix]}"


@dataclass(frozen=True)
class Held:
    """A claim as a worker has it, and the reference's job, of which it was that many-th claim."""

    claim: Claim
    job: Job
    number: int

    @property
    def is_current(self) -> bool:
        """Whether the worker still has the lease."""
        return self.job.state == "running" and self.job.claims == self.number


class Pair:
    """Both of them; each method does one thing to both. `held` are all claims, oldest first."""

    def __init__(self, store: Store, clock: Clock, window: int, system: str | None, policy: Wire) -> None:
        self.store, self.clock = store, clock
        self.numbering = Numbering()
        store.new_id = self.numbering
        self.held: list[Held] = []
        self.create(window, system, policy)

    def create(self, window: int, system: str | None, policy: Wire) -> None:
        """A new session under the one id there is."""
        new = lifecycle.NewSession("test/model", SESSION, window, system=system, policy=policy)
        with self.store.write() as tx:
            lifecycle.create(tx, TENANT, new)
        limits = self.store.limits
        self.reference = Reference(
            window, system, policy, lease_ms=limits.lease_seconds * 1000, retry_ms=limits.retry_seconds * 1000,
            retry_ms_max=limits.retry_seconds_max * 1000,
            max_attempts=limits.max_attempts, summarizer_tokens=limits.summarizer_tokens,
            summarizer_calls=limits.summarizer_calls, now=self.store.now,
            jobs_before=self.numbering.taken.get("job", 0), summaries_before=self.numbering.taken.get("sum", 0),
            interims=self.numbering.taken.get("interim", 0),
        )  # fmt: skip

    def delete(self) -> None:
        with self.store.write() as tx:
            lifecycle.delete(tx, TENANT, SESSION)
        self.reference.delete()
        # The rows of a deleted session go, and with them how its jobs ended.
        self.held = [held for held in self.held if held.job.state == "cancelled"]

    def write(self, real: Real, expected: Callable[[], Any]) -> Any:
        """What the session answered; the reference has to answer, or to refuse, in the same way."""
        self.reference.now = self.store.now
        result, refused = None, None
        try:
            with self.store.write() as tx:
                result = real(tx)
        except (SessionsError, CompactionError) as error:
            refused = type(error).__name__
        self.reference.multiplier = self.head.session.multiplier
        with _expecting(refused):
            expected()
        return result

    # ---- what clients do ----

    def append(
        self, wire: Sequence[Wire], name: str = "openai", reported: tuple[int, int] | None = None, **given: Any
    ) -> None:
        messages = FORMATS[name].parse(wire)
        drafts = append.prepare(messages)
        appended = self.write(
            lambda tx: append.append(tx, TENANT, SESSION, drafts, **given),
            lambda: self.reference.append(messages, reported),
        )
        if appended is not None:
            path = self.reference.path(self.reference.head)
            added = [entry.id for entry in path if entry.kind == "message"]
            assert appended.entry_ids == added[len(added) - len(appended.entry_ids) :]

    def report(self, wire: Sequence[Wire], *, version: int, input_tokens: int, output: int = 0) -> None:
        """Append with the usage of the view of a version; `output` is of the answer, which is the first message."""
        is_current = version == self.head.session.version
        reported = (input_tokens, output) if is_current else None
        self.append(wire, reported=reported, usage=Usage(version, input_tokens, output=output))

    def compact(
        self, request: ReferenceRequest, *, stages: list[str] | None = None, summarize: bool | None = True
    ) -> None:
        self.write(
            lambda tx: compact.compact(tx, TENANT, SESSION, _real(request), stages=stages, summarize=summarize),
            lambda: self.reference.compact(request, stages=stages, summarize=summarize),
        )

    def undo(self, name: str) -> None:
        self.write(lambda tx: undo.undo(tx, TENANT, SESSION, name), lambda: self.reference.undo(name))

    def redo(self) -> None:
        self.write(lambda tx: undo.redo(tx, TENANT, SESSION), self.reference.redo)

    def move(self, name: str, request: ReferenceRequest | None = None) -> None:
        """Move the head; with a request, the entries it leaves are summarized."""
        real_request = None if request is None else _real(request)
        self.write(
            lambda tx: branches.move(tx, TENANT, SESSION, name, request=real_request),
            lambda: self.reference.move(name, request),
        )

    def pin(self, text: str) -> None:
        self.write(lambda tx: pins.add(tx, TENANT, SESSION, text=text), lambda: self.reference.pin(text))

    def pin_entry(self, name: str) -> None:
        self.write(lambda tx: pins.add(tx, TENANT, SESSION, entry_id=name), lambda: self.reference.pin_entry(name))

    def unpin(self, index: int) -> None:
        with self.store.read() as tx:
            name = pins.pins(tx, TENANT, SESSION)[index].id
        self.write(lambda tx: pins.remove(tx, TENANT, SESSION, name), lambda: self.reference.unpin(index))

    def change(self, changes: Mapping[str, Any], **expected: Any) -> None:
        """Change settings, named in the reference by `expected`; with neither, only the trigger runs."""
        self.write(
            lambda tx: lifecycle.change(tx, TENANT, SESSION, changes),
            lambda: self.reference.change(changes.get("policy"), **expected),
        )

    def cancel(self, job: Job) -> None:
        def expected() -> None:
            if job.state not in {"queued", "running"}:
                raise Refused("Conflict")
            job.end("cancelled")

        self.write(lambda tx: endings.cancel(tx, TENANT, job.id), expected)

    # ---- what workers and the sweeper do ----

    def claim(self, queue: str) -> Held | None:
        self.reference.now = self.store.now
        claim, job = claims.claim(self.store, queue), self.reference.claim(queue)
        assert (claim and claim.job_id) == (job and job.id)
        if claim is None or job is None:
            return None
        assert claim.wanted.covered == job.covered
        given = (list(claim.request.previous), list(claim.request.said))
        assert given == self.reference.summarized_by(job), "a summarizer is given originals and what it replaces"
        self.held.append(Held(claim, job, job.claims))
        return self.held[-1]

    def publish(self, held: Held, text: str) -> str:
        """The state the job ended in; a worker without its lease changes nothing."""
        self.reference.now = self.store.now
        draft = SummaryDraft(text, degraded=False, summarizer="test")
        lines, said = assemble(held.claim.request.items), said_meanwhile(self.store, held.claim)
        # What was used meanwhile is added: whether rightly so, other tests say.
        written = with_used(draft, held.claim.request, lines, said).text
        expected = self.reference.publish(held.job, written) if held.is_current else held.job.state
        assert publish.publish(self.store, held.claim, draft) == expected
        return expected

    def fail(self, held: Held) -> None:
        self.reference.now = self.store.now
        endings.fail(self.store, held.claim, "the summarizer is down")
        if held.is_current:
            self.reference.fail(held.job, "down")

    def beat(self, held: Held) -> None:
        self.reference.now = self.store.now
        assert bool(leases.extend_leases(self.store, {held.claim.lease: 0.5})) == held.is_current
        if held.is_current:
            self.reference.beat(held.job)

    def release(self, held: Held) -> None:
        self.reference.now = self.store.now
        endings.release(self.store, held.claim)
        if held.is_current:
            self.reference.release(held.job)

    def sweep(self, seconds: int) -> None:
        """What the sweeper does after so many seconds."""
        self.clock.advance(seconds)
        now = self.reference.now = self.store.now
        waiting = sweeps.sweep(self.store)
        self.reference.sweep()
        due = [job.queue for job in self.reference.jobs if job.state == "queued" and job.not_before <= now]
        assert sorted(waiting) == sorted(set(due))

    # ---- what is to be seen ----

    @property
    def head(self) -> Path:
        with self.store.read() as tx:
            return paths.open_head(tx, TENANT, SESSION)

    @property
    def live(self) -> list[str]:
        """The ids of the live compactions of the path in use, oldest first."""
        return [entry.id for entry in fold(self.reference.path(self.reference.head)).live]

    def view(self) -> list[Message]:
        """The view at the head, whether it fits or not."""
        with self.store.read() as tx:
            return views.view(tx, TENANT, SESSION, must_fit=False).messages

    def rendered(self) -> str:
        """The view at the head, byte for byte."""
        return json.dumps(FORMATS["openai"].render(self.view(), self.reference.system).messages)

    def jobs(self) -> list[Any]:
        """The session's jobs, as `expected_jobs` has them."""
        statement = select(JOB).where(JOB.c.session_pk == self.head.session.pk).order_by(JOB.c.number)
        with self.store.read() as tx:
            rows = tx.execute(statement).all()
        return [_job(row, loads(row.parameters)) for row in rows]

    def expected_jobs(self) -> list[Any]:
        return [_job(job, loads(dumps(job.request._asdict()))) for job in self.reference.jobs]

    def state(self) -> Any:
        """All that is kept of the session, but its version and what a heartbeat changes."""
        head = self.head
        with self.store.read() as tx:
            branches = [paths.branch_path(tx, head.session, number) for number in range(head.session.branches)]
            leaves = [
                (
                    path.leaf_seq,
                    path.kept,
                    path.raw,
                    path.pending_tokens,
                    path.next_summary_at,
                    entry_log.live_edits(tx, path),
                )
                for path in branches
            ]
            texts = pins_of(tx, head.session)
        return head.branch, leaves, texts, self.jobs()


def _real(request: ReferenceRequest) -> summary_request.SummaryRequest:
    return summary_request.SummaryRequest(**request._asdict())


def _job(job: Any, request: Any) -> Any:
    return job.id, job.branch, job.state, job.queue, job.attempts, job.superseded_by, job.error == "no-room", request


@contextmanager
def _expecting(refused: str | None) -> Iterator[None]:
    """Whatever is done inside has to be refused in this way, or not at all."""
    due = None
    try:
        yield
    except Refused as error:
        due = error.name
    except CompactionError as error:
        due = type(error).__name__
    assert refused == due, f"answered {refused}, due was {due}"
