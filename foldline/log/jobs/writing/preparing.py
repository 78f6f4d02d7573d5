"""What a job is about to do: the summary to make, and what its summarizer gets.

Of a long session it is read without a lock: to read thousands of entries takes tenths of a second, in which nobody
could append to the session, and on SQLite nobody could write anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from foldline.engine.outline import Outline
from foldline.engine.policies.policy import to_json
from foldline.log.compaction.ranges import text_tokens
from foldline.log.compaction.summaries import Wanted, details, kept, kept_key
from foldline.log.compaction.summary_request import HOOK_KINDS, SummaryRequest, request_from_json, requested_policy
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, HeldJob, Preparation
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


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """What a job is about to do on a path, as it was at `outline_at`.

    `request` is what the job asks for. `wanted` is the summary to make; None if nothing is left to do. There is no
    `preparation` of a summary that is kept already.
    """

    path: Path
    request: SummaryRequest
    outline_at: OutlineAt
    wanted: Wanted | None
    preparation: Preparation | None = None

    def holds(self, path: Path) -> bool:
        """Whether the job may go on with this: its path has gained nothing but messages, which a publish accepts too.

        If there was nothing left to do, there may be something now.
        """
        is_same = self.wanted is not None or path.leaf_seq == self.outline_at.leaf_seq
        return is_same and path.edits_at == self.outline_at.edits_at


def is_long(path: Path, kind: str) -> bool:
    """Whether a job of this kind is to be read without a lock.

    The summary of a branch that was left is: that one may be long, however short the path is.
    """
    return path.leaf_seq > LONG or not JOB_KINDS[kind].is_edit


def find_work(tx: Transaction, path: Path, job: Any) -> PreparedJob:
    """What a job is about to do, without its preparation."""
    request, outline_at = request_from_json(job.parameters), _outline_at(tx, path)
    wanted = JOB_KINDS[job.kind].find(tx, path, request, outline_at.outline)
    return PreparedJob(path, request, outline_at, wanted)


def prepare_unlocked(store: Store, held: HeldJob, job: Any) -> PreparedJob | None:
    """What a job that is held is about to do; None if its session was deleted.

    Raises:
        LookupError, TypeError, ValueError, CompactionError: this version cannot read the session.
    """
    with _reading(store) as tx:
        path = paths.read_branch(tx, held.session_pk, held.branch)
        if path is None:
            return None
        work = find_work(tx, path, job)
        if work.wanted is None or kept(tx, kept_key(path, work.wanted, work.request)):
            return work
        return replace(work, preparation=preparation_of(tx, work, work.wanted, job))


def outline_before(store: Store, claim: Claim) -> OutlineAt | None:
    """The outline of a claimed job's branch, if it is long; nothing is locked."""
    if claim.leaf_seq <= LONG:
        return None
    with _reading(store) as tx:
        path = paths.read_branch(tx, claim.session_pk, claim.branch)
        return None if path is None else _outline_at(tx, path)


def outline_now(tx: Transaction, path: Path, read: OutlineAt | None) -> Outline:
    """The outline at the leaf: the one that was read before, with what was said since, unless the path was edited."""
    if read is None or read.edits_at != path.edits_at:
        return entry_log.outline(tx, path)
    if read.leaf_seq == path.leaf_seq:
        return read.outline
    return read.outline.with_entries(entry_log.facts_after(tx, path, read.leaf_seq), is_whole=True)


@contextmanager
def _reading(store: Store) -> Iterator[Transaction]:
    with store.read() as tx:
        # What is known of other sessions would have to make room.
        tx.known = None
        yield tx


def _outline_at(tx: Transaction, path: Path) -> OutlineAt:
    return OutlineAt(path.edits_at, path.leaf_seq, entry_log.outline(tx, path))


def preparation_of(tx: Transaction, work: PreparedJob, wanted: Wanted, job: Any) -> Preparation:
    """What hooks and the summarizer get of the summary to make."""
    path, request, outline = work.path, work.request, work.outline_at.outline
    kind, covered = JOB_KINDS[request.kind], wanted.covered
    after = (item.first for item in outline.items if item.first > covered.last)
    first_kept = next(after, None) if kind.is_edit else None
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
        first_kept_entry_id=None if first_kept is None else segments.id_at(segments.segments(tx, path), first_kept),
        left_entry_id=request.subject or None,
        original_tokens=covered.original_tokens,
        tokens_before=path.used,
        max_tokens=text_tokens(wanted),
        details=details(wanted.files),
        request=replace(given, beginning=cached_beginning(tx, path, wanted, given, outline)) if kind.is_edit else given,
    )
