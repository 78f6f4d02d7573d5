"""Summary requests: which job a wish for a summary becomes, joins, or is answered by without one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from sqlalchemy import Boolean, bindparam, insert, or_, select, update

from compaction.chunks import chunk_tokens
from compaction.cuts import SummaryRange, next_range
from compaction.gauge import Gauge
from compaction.outline import Outline
from compaction.policy import Policy, from_stored
from compaction.presets import DEFAULT_PRESET, PRESETS
from compaction.recent import due_items, items_until, last_due
from compaction.wire import dumps, loads
from compaction.wording import summary_frame_tokens
from sessions import log, segments
from sessions.compacting import Compaction, Summary, apply_summary
from sessions.paths import Aims, Path
from sessions.store import Transaction
from sessions.tables import JOB, SUMMARY

KIND: Final = "summary"
INTERACTIVE: Final = "summarize.interactive"
BACKGROUND: Final = "summarize.background"
NO_ROOM: Final = "no-room"
ACTIVE: Final = ("queued", "running")

KEPT: Final = select(SUMMARY.c.id, SUMMARY.c.tokens, SUMMARY.c.is_degraded, SUMMARY.c.model).where(
    SUMMARY.c.session_pk == bindparam("pk"),
    SUMMARY.c.key == bindparam("wanted"),
    SUMMARY.c.tokens <= bindparam("most"),
    or_(bindparam("takes_degraded", type_=Boolean), SUMMARY.c.is_degraded.is_(False)),
)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a summary is to be like. `is_asked`: someone asked for it; otherwise the trigger did.

    `policy` is a whole one, in its stored form. `until` is the seq of the last entry that was due when it was asked
    for: what is due depends on what there is, and would be more after each summary.
    """

    is_asked: bool
    instructions: str | None = None
    target_tokens: int | None = None
    policy: Mapping[str, Any] | None = None
    until: int | None = None


AUTOMATIC: Final = Ask(is_asked=False)


@dataclass(frozen=True, slots=True)
class Request:
    """The job that will answer a wish; `is_joined` if it was there already."""

    job_id: str
    is_joined: bool = False


def asked_policy(path: Path, ask: Ask) -> Policy:
    """The policy that a compaction was asked for with, else the session's."""
    return path.session.policy if ask.policy is None else from_stored(ask.policy, PRESETS)


def asked_aims(path: Path, ask: Ask) -> Aims:
    """What a compaction aims at."""
    return path.aims(asked_policy(path, ask), ask.target_tokens)


def range_of(path: Path, outline: Outline, ask: Ask, window_tokens: int) -> SummaryRange | None:
    """What a summary asked for in this way would cover now."""
    aims = asked_aims(path, ask)
    # A target that nobody asked a summary for bounds what it may take, and makes nothing due.
    is_bound_only = ask.target_tokens is not None and not ask.is_asked
    gauge = path.aims(aims.policy).gauge if is_bound_only else aimed_gauge(aims, ask, outline)
    due = due_items(outline, aims.policy, gauge, is_asked=ask.is_asked)
    if ask.until is not None:
        due = min(due, items_until(outline, ask.until))
    seen = outline.measured(gauge.measure)
    window = path.session.frame.window(path.session.policy).tokens
    most = min(window_tokens, chunk_tokens(seen, aims.policy.stage("summarize"), window, due))
    return next_range(outline, aims.goals, most, due, is_asked=ask.is_asked)


def aimed_gauge(aims: Aims, ask: Ask, outline: Outline) -> Gauge:
    """The gauge of these aims, down to the target that was asked for, if one was."""
    return aims.gauge if ask.target_tokens is None else aims.gauge.aimed(aims.goals, outline)


def until_now(path: Path, outline: Outline, ask: Ask) -> Ask:
    """What is asked for, of what is due now and no more."""
    aims = asked_aims(path, ask)
    due = due_items(outline, aims.policy, aimed_gauge(aims, ask, outline), is_asked=True)
    return replace(ask, until=last_due(outline, due))


def request(tx: Transaction, path: Path, ask: Ask, outline: Outline | None = None) -> Request | Compaction | None:
    """Answer a wish for a summary with a job, or with the compaction that publishes one kept from before.

    None if nothing is left to summarize. `outline` is the path's, if the caller has planned on it. Without a plan an
    automatic wish joins whatever job the branch has and looks no further: a turn must not cost more while jobs wait.
    """
    if outline is None and not ask.is_asked:
        job_id = _under_way(tx, path)
        if job_id is not None:
            return Request(job_id, is_joined=True)
    outline = outline or log.outline(tx, path)
    covered = range_of(path, outline, ask, tx.limits.summarizer_tokens)
    if covered is None:
        return None
    kept = kept_summary(tx, path, covered, ask)
    if kept is None:
        return queue(tx, path, ask)
    policy = asked_policy(path, ask)
    applied = apply_summary(tx, path, outline, policy, covered=covered, summary=kept, is_asked=ask.is_asked)
    if applied is None:
        _show_no_room(tx, path, ask)
        return None
    return applied[0]


def _under_way(tx: Transaction, path: Path) -> str | None:
    statement = select(JOB.c.id).where(
        JOB.c.session_pk == path.session.pk,
        JOB.c.branch == path.branch,
        JOB.c.kind == KIND,
        JOB.c.state.in_(ACTIVE),
    )
    job_id: str | None = tx.execute(statement.order_by(JOB.c.state.desc()).limit(1)).scalar()
    return job_id


def key_of(tx: Transaction, path: Path, covered: SummaryRange, ask: Ask) -> str:
    """What identifies a summary: the entries at its ends, the summaries it replaces, and what was asked of it."""
    parts = segments.segments(tx, path)
    ends = [segments.entry_id(segments.branch_at(parts, seq), seq) for seq in (covered.first, covered.last)]
    policy = asked_policy(path, ask)
    shape = [policy.headings, policy.transcript]
    # Keys from before there was a choice of these have nothing of it.
    asked = [ask.instructions] if shape == [DEFAULT_PRESET] * 2 else [ask.instructions, shape]
    return hashlib.sha256(dumps([ends, covered.replaces, *asked])).hexdigest()


def kept_key(tx: Transaction, path: Path, covered: SummaryRange, ask: Ask) -> dict[str, Any]:
    """The parameters of `KEPT`: a summary made for this very range that is small enough now."""
    return {
        "pk": path.session.pk,
        "wanted": key_of(tx, path, covered, ask),
        "most": covered.max_tokens + summary_frame_tokens(),
        # Whoever asks again after a poor summary wants a better one.
        "takes_degraded": not ask.is_asked,
    }


def kept_summary(tx: Transaction, path: Path, covered: SummaryRange, ask: Ask) -> Summary | None:
    """The summary made for this very range before, if it is small enough now."""
    row = tx.execute(KEPT, kept_key(tx, path, covered, ask)).first()
    return None if row is None else Summary(*row)


def queue(tx: Transaction, path: Path, ask: Ask) -> Request:
    """Single flight: join the running job if it will do, or the waiting one, or wait behind the running one."""
    rows = tx.execute(
        select(JOB.c.id, JOB.c.state, JOB.c.parameters, JOB.c.queue).where(
            JOB.c.session_pk == path.session.pk,
            JOB.c.branch == path.branch,
            JOB.c.kind == KIND,
            JOB.c.state.in_(ACTIVE),
        )
    ).all()
    by_state = {row.state: row for row in rows}
    waiting, running = by_state.get("queued"), by_state.get("running")
    if running is not None and (not ask.is_asked or ask_of(running.parameters) == ask):
        return Request(running.id, is_joined=True)
    if waiting is not None:
        _update_waiting(tx, waiting, ask)
        return Request(waiting.id, is_joined=True)
    return Request(_insert(tx, path, ask))


def _update_waiting(tx: Transaction, waiting: Any, ask: Ask) -> None:
    if not ask.is_asked:
        return
    values = {"parameters": ask_json(ask), "queue": INTERACTIVE, "is_asked": True, "not_before": 0}
    tx.execute(update(JOB).where(JOB.c.id == waiting.id).values(values))
    tx.rings.append(INTERACTIVE)


def _insert(tx: Transaction, path: Path, ask: Ask, *, state: str = "queued", error: str | None = None) -> str:
    job_id = tx.new_id("job")
    queue = INTERACTIVE if ask.is_asked else BACKGROUND
    ended = state != "queued"
    tx.execute(
        insert(JOB).values(
            id=job_id,
            session_pk=path.session.pk,
            tenant=path.session.tenant,
            branch=path.branch,
            kind=KIND,
            state=state,
            queue=queue,
            is_asked=ask.is_asked,
            attempts=0,
            progress=0.0,
            error=error,
            lease_until=0,
            not_before=0,
            created_at=tx.now,
            ended_at=tx.now if ended else None,
            parameters=ask_json(ask),
        )
    )
    if not ended:
        tx.rings.append(queue)
    return job_id


def _show_no_room(tx: Transaction, path: Path, ask: Ask) -> None:
    """A kept summary does not fit: let that be visible as the branch's newest job, once."""
    newest = tx.execute(
        select(JOB.c.error)
        .where(JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch, JOB.c.kind == KIND)
        .order_by(JOB.c.number.desc())
        .limit(1)
    ).scalar()
    if newest != NO_ROOM:
        _insert(tx, path, ask, state="failed", error=NO_ROOM)


def ask_json(ask: Ask) -> bytes:
    """An ask as a job keeps it."""
    return dumps(asdict(ask))


def ask_of(parameters: bytes) -> Ask:
    """The ask a job keeps; what a newer version asked on top is not known here."""
    known = {field.name for field in fields(Ask)}
    return Ask(**{name: value for name, value in loads(parameters).items() if name in known})
