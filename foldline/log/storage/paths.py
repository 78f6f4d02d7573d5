"""Loads sessions and paths, with their locks, and writes them back."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, null, select, update

from foldline.engine.facts import call_from_json, call_to_json
from foldline.engine.images.in_messages import Images
from foldline.engine.planning.batches import Tail
from foldline.engine.wire import dumps, loads
from foldline.log.errors import NotFound, StaleVersion
from foldline.log.storage.rows import NotCompacted, Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY, SESSION

_SESSION_COLUMNS: Final = (
    SESSION.c.pk,
    SESSION.c.tenant,
    SESSION.c.id,
    SESSION.c.model,
    SESSION.c.context_window,
    SESSION.c.max_output_tokens,
    SESSION.c.auto_compact,
    SESSION.c.head,
    SESSION.c.branches,
    SESSION.c.version,
    SESSION.c.multiplier,
    SESSION.c.fixed_tokens,
    SESSION.c.tools_tokens,
    SESSION.c.pins_tokens,
    SESSION.c.created_at,
    SESSION.c.retention_days,
    SESSION.c.policy,
    SESSION.c.system,
    SESSION.c.tools,
)
_BRANCH_COLUMNS: Final = (
    BRANCH.c.branch,
    BRANCH.c.parent,
    BRANCH.c.left_seq,
    BRANCH.c.leaf_seq,
    BRANCH.c.last_message_seq,
    BRANCH.c.messages,
    BRANCH.c.kept,
    BRANCH.c.raw,
    BRANCH.c.pending_tokens,
    BRANCH.c.edits_branch,
    BRANCH.c.edits_seq,
    BRANCH.c.tail_unit,
    BRANCH.c.open_calls,
    BRANCH.c.next_summary_at,
    BRANCH.c.failures,
    BRANCH.c.estimated,
    BRANCH.c.reported,
    BRANCH.c.reported_seq,
    BRANCH.c.images,
    BRANCH.c.image_bytes,
    BRANCH.c.image_side,
    BRANCH.c.not_compacted,
)
COLUMNS: Final = (*_SESSION_COLUMNS, *_BRANCH_COLUMNS)
# The columns that an entry and its branch share: the state of the path after the entry.
_PLACE: Final = frozenset({"session_pk", "branch", "tenant"})
STATE_COLUMNS: Final = tuple(column.name for column in BRANCH.c if column.name in ENTRY.c and column.name not in _PLACE)
# The columns of the leaf's state that only the branch has.
_OF_LEAVES: Final = ("leaf_seq", "next_summary_at", "failures", "estimated", "reported", "reported_seq")
_IMAGES: Final = ("images", "image_bytes", "image_side")
_OF_RETENTION: Final = frozenset({"deleted_at", "expires_at", "quiet_since", "retention_days", "due_at"})
UNCHANGING: Final = frozenset({"pk", "tenant", "id", "created_at", "origin"}) | _OF_RETENTION
# Large columns that rarely change: `save_texts` writes them, not every append.
TEXTS: Final = frozenset({"policy", "system", "tools"})

# Statements are built once: building one costs as much as running it.
BY_ID: Final = and_(
    SESSION.c.tenant == bindparam("tenant"), SESSION.c.id == bindparam("id"), SESSION.c.deleted_at.is_(None)
)
HEAD: Final = select(*COLUMNS).join_from(
    SESSION, BRANCH, and_(BRANCH.c.session_pk == SESSION.c.pk, BRANCH.c.branch == SESSION.c.head)
)
HEAD_BY_ID: Final = HEAD.where(BY_ID)
# The session is locked before anything of it is read. A statement that waits for a lock continues with the other rows
# as they were before the wait, so it would join the session to a branch that is no longer its head.
# No writer changes its key, so whoever only needs it to stay (`lives`) waits for none.
LOCK_BY_ID: Final = select(SESSION.c.pk).where(BY_ID).with_for_update(key_share=True)
# A branch given by number cannot change while its session is waited for, so both are locked at once.
_BRANCH: Final = (
    select(*COLUMNS)
    .join_from(SESSION, BRANCH, BRANCH.c.session_pk == SESSION.c.pk)
    .where(SESSION.c.pk == bindparam("pk"), SESSION.c.deleted_at.is_(None), BRANCH.c.branch == bindparam("number"))
)
_LOCKED_BRANCH: Final = _BRANCH.with_for_update(key_share=True)
_FREE_BRANCH: Final = _BRANCH.with_for_update(key_share=True, skip_locked=True)
_HOLD: Final = select(SESSION.c.pk).where(SESSION.c.pk == bindparam("pk")).with_for_update()
_LIVES: Final = (
    select(SESSION.c.pk)
    .where(SESSION.c.pk == bindparam("pk"), SESSION.c.deleted_at.is_(None))
    .with_for_update(read=True, key_share=True)
)
_BRANCH_BY_NUMBER: Final = select(*_BRANCH_COLUMNS).where(
    BRANCH.c.session_pk == bindparam("pk"), BRANCH.c.branch == bindparam("number")
)
UPDATE_BRANCH: Final = (
    update(BRANCH)
    .where(BRANCH.c.session_pk == bindparam("pk"), BRANCH.c.branch == bindparam("number"))
    .values({name: bindparam(name) for name in (*_OF_LEAVES, "not_compacted", *STATE_COLUMNS)})
)
UPDATE_SESSION: Final = (
    update(SESSION)
    .where(SESSION.c.pk == bindparam("session_pk"))
    # What is changed stays.
    .values({column.name: bindparam(column.name) for column in SESSION.c if column.name not in UNCHANGING | TEXTS})
    .values(expires_at=null())
)
UPDATE_TEXTS: Final = (
    update(SESSION)
    .where(SESSION.c.pk == bindparam("session_pk"))
    .values({name: bindparam(name) for name in sorted(TEXTS)})
)


def open_head(
    tx: Transaction, tenant: str, session_id: str, *, lock: bool = False, if_match: int | None = None
) -> Path:
    """The path of a session's head; `lock` makes this transaction the session's only writer.

    Raises:
        NotFound: this tenant has no such session.
        StaleVersion: `if_match` is not the session's version.
    """
    found = {"tenant": tenant, "id": session_id}
    if lock:
        tx.lock(LOCK_BY_ID, found)
    row = tx.execute(HEAD_BY_ID, found).first()
    if row is None:
        raise NotFound("session", session_id)
    path = path_of(row)
    if if_match is not None and if_match != path.session.version:
        raise StaleVersion(if_match, path.session.version)
    return path


def open_branch(tx: Transaction, session_pk: int, branch: int, *, waits: bool = True) -> Path | None:
    """A branch's path, locked; None if the session was deleted, or if it is locked and `waits` is False."""
    statement = _LOCKED_BRANCH if waits else _FREE_BRANCH
    row = tx.execute(statement, {"pk": session_pk, "number": branch}).first()
    return None if row is None else path_of(row)


def lives(tx: Transaction, session_pk: int) -> bool:
    """Whether a session was not deleted; if so, its rows stay until the transaction ends.

    Others may write to it meanwhile, and may say that it is deleted. Its rows are removed afterwards then.
    """
    return tx.execute(_LIVES, {"pk": session_pk}).first() is not None


def hold(tx: Transaction, session_pk: int) -> None:
    """Lock a session before the next statement, against those too who only need it to stay (`lives`)."""
    tx.lock(_HOLD, {"pk": session_pk})


def read_branch(tx: Transaction, session_pk: int, branch: int) -> Path | None:
    """A branch's path as it is now; None if the session was deleted."""
    row = tx.execute(_BRANCH, {"pk": session_pk, "number": branch}).first()
    return None if row is None else path_of(row)


def branch_path(tx: Transaction, session: Session, branch: int) -> Path:
    """The path of another branch of a loaded session."""
    row = tx.execute(_BRANCH_BY_NUMBER, {"pk": session.pk, "number": branch}).one()
    return _path_of(session, row)


def path_of(row: Row[Any]) -> Path:
    """The path of a row with the columns `COLUMNS`."""
    session = Session(
        pk=row.pk,
        tenant=row.tenant,
        id=row.id,
        model=row.model,
        context_window=row.context_window,
        max_output_tokens=row.max_output_tokens,
        auto_compact=row.auto_compact,
        head=row.head,
        branches=row.branches,
        version=row.version,
        multiplier=row.multiplier,
        fixed_tokens=row.fixed_tokens,
        tools_tokens=row.tools_tokens,
        pins_tokens=row.pins_tokens,
        created_at=row.created_at,
        retention_days=row.retention_days,
        policy_json=row.policy,
        system_json=row.system,
        tools_json=row.tools,
    )
    return _path_of(session, row)


def _path_of(session: Session, row: Row[Any]) -> Path:
    return Path(
        session,
        branch=row.branch,
        parent=row.parent,
        left_seq=row.left_seq,
        leaf_seq=row.leaf_seq,
        last_message_seq=row.last_message_seq,
        messages=row.messages,
        kept=row.kept,
        raw=row.raw,
        pending_tokens=row.pending_tokens,
        edits_at=None if row.edits_branch is None else (row.edits_branch, row.edits_seq),
        tail=tail_of(row.tail_unit, row.open_calls),
        next_summary_at=row.next_summary_at,
        failures=row.failures,
        estimated=row.estimated,
        reported=row.reported,
        reported_seq=row.reported_seq,
        images=None if row.image_side is None else Images(row.images, row.image_bytes, row.image_side),
        not_compacted=None if row.not_compacted is None else _not_compacted(row.not_compacted),
    )


def _not_compacted(stored: bytes) -> NotCompacted:
    values = loads(stored)
    edits_at = values["edits_at"]
    return NotCompacted(**{**values, "edits_at": None if edits_at is None else tuple(edits_at)})


def tail_of(unit: int, open_calls: bytes | None) -> Tail:
    """The tail that is stored in two columns."""
    return Tail(unit, tuple(call_from_json(call) for call in loads(open_calls)) if open_calls else ())


def forget_counts(tx: Transaction, path: Path) -> None:
    """Drop the estimated and reported counts of all branches, because what they depend on changes."""
    path.estimated = path.reported = None
    tx.execute(update(BRANCH).where(BRANCH.c.session_pk == path.session.pk).values(estimated=None, reported=None))


def forget_images(tx: Transaction, path: Path) -> None:
    """Drop what is known of the images in view, up to all entries: another provider takes other ones."""
    path.images = None
    # Whoever indexes locks entries too, in another order.
    hold(tx, path.session.pk)
    for table in (BRANCH, ENTRY):
        known = table.c.session_pk == path.session.pk, table.c.images.is_not(None)
        tx.execute(update(table).where(*known).values(dict.fromkeys(_IMAGES)))


def save(tx: Transaction, path: Path) -> None:
    """Write the path's leaf and its session, with the version one higher."""
    path.session.version += 1
    save_leaf(tx, path)
    save_session(tx, path.session)


def save_edited(tx: Transaction, path: Path, leaf_seq: int) -> None:
    """Write the path after a job's changes; the version grows only if entries were added after `leaf_seq`."""
    if path.leaf_seq > leaf_seq:
        save(tx, path)
    else:
        save_leaf(tx, path)


def save_leaf(tx: Transaction, path: Path) -> None:
    """Write the path's leaf without the session."""
    tx.change(UPDATE_BRANCH, {"pk": path.session.pk, "number": path.branch, **_leaf_columns(path)})


def save_texts(tx: Transaction, session: Session) -> None:
    """Write the session's policy, system prompt and tools, which `save` does not."""
    values = {"policy": session.policy_json, "system": session.system_json, "tools": session.tools_json}
    tx.change(UPDATE_TEXTS, {"session_pk": session.pk, **values})


def save_session(tx: Transaction, session: Session) -> None:
    """Write the session's row, without its texts."""
    tx.change(
        UPDATE_SESSION,
        {
            "session_pk": session.pk,
            "model": session.model,
            "context_window": session.context_window,
            "max_output_tokens": session.max_output_tokens,
            "auto_compact": session.auto_compact,
            "head": session.head,
            "branches": session.branches,
            "version": session.version,
            "multiplier": session.multiplier,
            "fixed_tokens": session.fixed_tokens,
            "tools_tokens": session.tools_tokens,
            "pins_tokens": session.pins_tokens,
        },
    )


def _leaf_columns(path: Path) -> dict[str, Any]:
    run = path.not_compacted
    in_json = {"not_compacted": None if run is None else dumps(run._asdict())}
    return {**{name: getattr(path, name) for name in _OF_LEAVES}, **in_json, **state_columns(path)}


def state_columns(path: Path) -> dict[str, Any]:
    """The values of `STATE_COLUMNS` for the path's leaf."""
    edits_branch, edits_seq = path.edits_at or (None, 0)
    calls = [call_to_json(call) for call in path.tail.open_calls]
    images = path.images
    return {
        "images": None if images is None else images.count,
        "image_bytes": None if images is None else images.bytes,
        "image_side": None if images is None else images.side,
        "last_message_seq": path.last_message_seq,
        "messages": path.messages,
        "kept": path.kept,
        "raw": path.raw,
        "pending_tokens": path.pending_tokens,
        "edits_branch": edits_branch,
        "edits_seq": edits_seq,
        "tail_unit": path.tail.unit,
        "open_calls": dumps(calls) if calls else None,
    }
