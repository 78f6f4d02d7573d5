"""Moving the head: to the leaf of another branch, or to an earlier entry, from which a new branch starts."""

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
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY
from foldline.log.use_cases.preconditions import open_to_change


@dataclass(frozen=True, slots=True)
class Moved:
    """Where the head is, what the trigger did there, and what became of the summary of what was left.

    That is a job, or the id of the entry that it is already; neither, if nothing was left behind.
    """

    path: Path
    step: TriggerResult
    request: QueuedJob | None = None
    placed: str | None = None


def move(
    tx: Transaction,
    tenant: str,
    session_id: str,
    entry_id: str,
    *,
    ask: SummaryRequest | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> Moved:
    """Make an entry the head, and compact if the view there needs it.

    A branch's last message names its leaf: moving there brings back the compactions after it. With an `ask`, a summary
    is asked for of what the move leaves behind.

    Raises:
        NotFound: no such session, or no such entry in it.
        StaleVersion, UnknownParent: the head is not where the caller thinks it is.
    """
    head = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    session = head.session
    branch, seq = segments.parse_entry_id(entry_id)
    entry = tx.execute(
        select(ENTRY).where(ENTRY.c.session_pk == session.pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq)
    ).first()
    if entry is None:
        raise NotFound("entry", entry_id)
    tip = _tip(tx, session.pk, entry)
    session.head = session.branches if tip is None else tip
    path = new_branch(tx, session, _leaving(entry)) if tip is None else paths.branch_path(tx, session, tip)
    found = None if ask is None else branch_summary.left_behind(tx, head, path)
    answer = None if ask is None or found is None else _summarize(tx, path, replace(ask, left=found))
    step = trigger.run_trigger(tx, path)
    paths.save(tx, path)
    if isinstance(answer, QueuedJob):
        return Moved(path, step, request=answer)
    return Moved(path, step, placed=answer)


def _summarize(tx: Transaction, path: Path, ask: SummaryRequest) -> QueuedJob | str | None:
    """Answer a wish for a summary of what was left with a job, or at once with one that was made of just that before.

    None if nothing was said there, or if there is no room: then a failed job says so.
    """
    outline = entry_log.outline(tx, path)
    wanted = branch_summary.find(tx, path, ask, outline)
    if wanted is None:
        return None
    kept = summaries.kept(tx, summaries.kept_key(path, wanted, ask))
    if kept is None:
        return enqueue.enqueue(tx, path, ask)
    applied = branch_summary.apply(tx, path, Made(wanted, kept, ask), outline)
    if applied is None:
        enqueue.show_no_room(tx, path, ask)
        return None
    placed: str = applied.result["entry_id"]
    return placed


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it is listed: where it left its parent, and the entry that moving to makes it the one in use."""

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
    """The branch that ends at this entry, or whose own last message it is; the entry's own branch before others."""
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
    """An entry from which a branch starts, with the `paths.STATE_COLUMNS` of the path up to there."""

    branch: int
    seq: int
    state: Mapping[str, Any]


def _leaving(entry: Any) -> Leaving:
    return Leaving(entry.branch, entry.seq, {name: getattr(entry, name) for name in paths.STATE_COLUMNS})


def new_branch(tx: Transaction, session: Session, at: Leaving) -> Path:
    """The path of a new branch, which has no entries of its own yet."""
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
