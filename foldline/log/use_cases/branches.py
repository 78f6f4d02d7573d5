"""Branches: moving the head to another branch's leaf or to an earlier entry, where a new branch begins; listing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import insert, select

from foldline.log.compaction import branch_summary, enqueue, summaries, trigger
from foldline.log.compaction.enqueue import QueuedJob
from foldline.log.compaction.summaries import Made
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.errors import NotFound
from foldline.log.jobs import queries
from foldline.log.jobs.queries import Job
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY
from foldline.log.use_cases.preconditions import entry_of_request, open_to_change


@dataclass(frozen=True, slots=True)
class Moved:
    """The new head, the trigger's result there, and the branch summary if one was requested.

    `queued` and `job` are the summary's job. `summary_entry_id` is its entry, if a kept summary was added at once. All
    are None if the move left no entries.
    """

    path: Path
    step: TriggerResult
    queued: QueuedJob | None = None
    job: Job | None = None
    summary_entry_id: str | None = None


def move(
    tx: Transaction,
    tenant: str,
    session_id: str,
    entry_id: str,
    *,
    request: SummaryRequest | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> Moved:
    """Move the head to an entry, and run the trigger there.

    A branch's last message stands for its leaf: moving there brings back the compactions after it. Any other entry
    begins a new branch. `request` is for a summary of the entries that the move leaves.

    Raises:
        NotFound: no such session.
        UnknownEntry: no such entry in it.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        TenantLimitReached: the summary needs a job, and the tenant has as many as it may.
    """
    head = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    session = head.session
    with entry_of_request():
        branch, seq = segments.parse_entry_id(entry_id)
        entry = tx.execute(
            select(ENTRY).where(ENTRY.c.session_pk == session.pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq)
        ).first()
        if entry is None:
            raise NotFound("entry", entry_id)
    tip = _tip(tx, session.pk, entry)
    session.head = session.branches if tip is None else tip
    path = new_branch(tx, session, _leaving(entry)) if tip is None else paths.branch_path(tx, session, tip)
    left = None if request is None else branch_summary.left_behind(tx, head, path)
    found = None if request is None or left is None else _summarize(tx, path, replace(request, left=left))
    step = trigger.run_trigger(tx, path)
    paths.save(tx, path)
    if isinstance(found, QueuedJob):
        enqueue.check_new(tx, tenant, found)
        return Moved(path, step, queued=found, job=queries.job(tx, tenant, found.job_id))
    return Moved(path, step, summary_entry_id=found)


def _summarize(tx: Transaction, path: Path, request: SummaryRequest) -> QueuedJob | str | None:
    """The job for the branch summary, or the id of the new entry if a kept summary was added at once.

    None if the left entries show nothing in a view. None also if there is no room; then a failed job has the reason.
    """
    outline = entry_log.outline(tx, path)
    wanted = branch_summary.find(tx, path, request, outline)
    if wanted is None:
        return None
    kept = summaries.kept(tx, summaries.kept_key(path, wanted, request))
    if kept is None:
        return enqueue.enqueue(tx, path, request)
    applied = branch_summary.apply(tx, path, Made(wanted, kept, request), outline)
    if applied is None:
        enqueue.show_no_room(tx, path, request)
        return None
    entry_id: str = applied.result["entry_id"]
    return entry_id


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as the API lists it: the parent's entry where it begins, and the entry to move to in order to use it."""

    number: int
    left_entry: str | None
    leaf_entry: str | None
    messages: int
    is_head: bool


def branches(tx: Transaction, tenant: str, session_id: str, first: int, limit: int) -> list[Branch]:
    """Up to `limit` branches of a session from the one with the number `first` on, oldest first.

    Raises:
        NotFound: no such session.
    """
    session = paths.open_head(tx, tenant, session_id).session
    columns = (BRANCH.c.branch, BRANCH.c.parent, BRANCH.c.left_seq, BRANCH.c.leaf_seq, BRANCH.c.messages)
    # Numbers larger than any branch has may be larger than the column holds.
    chosen = BRANCH.c.session_pk == session.pk, BRANCH.c.branch >= min(first, session.branches)
    rows = tx.execute(select(*columns).where(*chosen).order_by(BRANCH.c.branch).limit(limit))
    return [_listed(row, session.head) for row in rows]


def _listed(row: Any, head: int) -> Branch:
    left = None if row.parent is None else segments.entry_id(row.parent, row.left_seq)
    leaf = segments.entry_id(row.branch, row.leaf_seq) if row.leaf_seq > row.left_seq else left
    return Branch(row.branch, left, leaf, row.messages, is_head=row.branch == head)


def _tip(tx: Transaction, session_pk: int, entry: Any) -> int | None:
    """The branch that this entry is the leaf or the last message of; the entry's own branch before others."""
    rows = tx.execute(
        select(BRANCH)
        .where(BRANCH.c.session_pk == session_pk)
        .where((BRANCH.c.leaf_seq == entry.seq) | (BRANCH.c.last_message_seq == entry.seq))
    ).all()
    own = [row for row in rows if row.branch == entry.branch]
    if any(row.leaf_seq == entry.seq or entry.kind == entry_log.MESSAGE for row in own):
        return int(entry.branch)
    empty = [row.branch for row in rows if row.parent == entry.branch and row.left_seq == row.leaf_seq == entry.seq]
    return empty[0] if empty else None


@dataclass(frozen=True, slots=True)
class Leaving:
    """The entry where a new branch begins, with the `paths.STATE_COLUMNS` of the path up to it."""

    branch: int
    seq: int
    state: Mapping[str, Any]


def _leaving(entry: Any) -> Leaving:
    return Leaving(entry.branch, entry.seq, {name: getattr(entry, name) for name in paths.STATE_COLUMNS})


def new_branch(tx: Transaction, session: Session, at: Leaving) -> Path:
    """Add a branch without entries of its own; its path."""
    tx.execute(
        insert(BRANCH).values(
            session_pk=session.pk,
            branch=session.branches,
            tenant=session.tenant,
            parent=at.branch,
            left_seq=at.seq,
            leaf_seq=at.seq,
            next_summary_at=0,
            failures=0,
            **at.state,
        )
    )
    session.branches += 1
    return paths.branch_path(tx, session, session.branches - 1)
