"""What a claimed job is about to do: its summary, and what its summarizer gets.

Of a long session it is read before the session is locked: to read thousands of entries takes tenths of a second, in
which nobody could append to the session, and on SQLite nobody could write anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from foldline.engine.outline import Outline
from foldline.engine.policies.policy import to_json
from foldline.log.compaction.ranges import text_tokens
from foldline.log.compaction.summaries import Wanted, details
from foldline.log.compaction.summary_request import HOOK_KINDS, SummaryRequest, request_from_json, requested_policy
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, Preparation
from foldline.log.jobs.writing.cached_beginnings import cached_beginning
from foldline.log.jobs.writing.provider_calls import provider_call
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction

# A session with more entries is long: to read so many takes some ten milliseconds.
LONG: Final = 1_000


class OutlineAt(NamedTuple):
    """The outline of a branch as it was after an edit, and at a leaf."""

    edits_at: tuple[int, int] | None
    leaf_seq: int
    outline: Outline


def outline_now(tx: Transaction, path: Path, read: OutlineAt | None) -> Outline:
    """The outline at the leaf: the one that was read before, with what was said since, unless it was edited."""
    if read is None or read.edits_at != path.edits_at:
        return entry_log.outline(tx, path)
    if read.leaf_seq == path.leaf_seq:
        return read.outline
    return read.outline.with_entries(entry_log.facts_after(tx, path, read.leaf_seq), is_whole=True)


def outline_before(store: Store, claim: Claim) -> OutlineAt | None:
    """The outline of a claimed job's branch, if it is long; nothing is locked."""
    if claim.leaf_seq <= LONG:
        return None
    with store.read() as tx:
        path = paths.read_branch(tx, claim.session_pk, claim.branch)
        return None if path is None else _read(tx, path)


def _read(tx: Transaction, path: Path) -> OutlineAt:
    return OutlineAt(path.edits_at, path.leaf_seq, entry_log.outline(tx, path))


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """What a job is about to do on its path, as it was when this was read. `wanted` is None if nothing is left to do.

    `request` is what the job's parameters ask for, and `seen` the outline of the path.
    """

    job_id: str
    parameters: bytes
    path: Path
    request: SummaryRequest
    seen: OutlineAt
    wanted: Wanted | None
    preparation: Preparation | None = None

    def holds(self, path: Path, job: Any) -> bool:
        """Whether a claim of the job may begin with this: its path has gained nothing but messages since.

        A claim of a moment ago would be no different.
        """
        is_same_job = (job.job_id, job.parameters) == (self.job_id, self.parameters)
        return is_same_job and self.preparation is not None and path.edits_at == self.seen.edits_at


def found(tx: Transaction, path: Path, job: Any) -> PreparedJob:
    """What a job wants, without what its summarizer gets."""
    request, seen = request_from_json(job.parameters), _read(tx, path)
    wanted = JOB_KINDS[job.kind].find(tx, path, request, seen.outline)
    return PreparedJob(job.job_id, job.parameters, path, request, seen, wanted)


def prepared(tx: Transaction, path: Path, job: Any) -> PreparedJob:
    """What a job is about to do."""
    wants = found(tx, path, job)
    return wants if wants.wanted is None else replace(wants, preparation=preparation_of(tx, wants, wants.wanted, job))


def preparation_of(tx: Transaction, wants: PreparedJob, wanted: Wanted, job: Any) -> Preparation:
    """What hooks and the summarizer get."""
    path, request, outline = wants.path, wants.request, wants.seen.outline
    kind, covered = JOB_KINDS[request.kind], wanted.covered
    kept = next((item.first for item in outline.items if item.first > covered.last), None) if kind.is_edit else None
    given = replace(
        kind.make_input(tx, path, wanted, request, outline),
        provider=provider_call(tx, path, wanted, outline),
        writers=requested_policy(path, request).writers,
        are_writers_well=job.are_writers_well,
        payer=path.session.tenant,
    )
    return Preparation(
        kind=HOOK_KINDS[request.kind],
        session_id=path.session.id,
        job_id=job.job_id,
        policy=to_json(requested_policy(path, request)),
        reason="asked" if request.is_asked else "trigger",
        first_entry_id=wanted.ends[0],
        last_entry_id=wanted.ends[1],
        first_kept_entry_id=None if kept is None else segments.id_at(segments.segments(tx, path), kept),
        left_entry_id=request.subject or None,
        original_tokens=covered.original_tokens,
        tokens_before=path.used,
        max_tokens=text_tokens(wanted),
        details=details(wanted.files),
        request=replace(given, beginning=cached_beginning(tx, path, wanted, given, outline)) if kind.is_edit else given,
    )
