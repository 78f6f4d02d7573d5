"""Publishes a finished summary and ends its job, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, bindparam, case, func, select, update

from foldline.engine.edits import Edit
from foldline.engine.facts import Seen
from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.choice.standing import with_rules
from foldline.engine.ledger.items import ItemAt
from foldline.engine.ledger.snapshot import snapshot_of
from foldline.engine.outline import Outline
from foldline.engine.planning.tool_loops import strips_open_loop
from foldline.engine.summaries.meanwhile import PATCHED_BY_USE, with_used
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wire import loads
from foldline.engine.wording import summary_frame_tokens
from foldline.log.compaction import trigger
from foldline.log.compaction.enqueue import FOR_A_CHANGE, IN_TOOL_LOOP, NO_ROOM, has_waiting
from foldline.log.compaction.summaries import Made, keep, tokens_of
from foldline.log.compaction.summary_request import request_from_json, request_to_json
from foldline.log.compaction.usage_estimate import fits, should_compact
from foldline.log.events import SummaryPatched
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.jobs.endings import decline_held, end, end_without_summary, state_of
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, open_claimed
from foldline.log.jobs.writing import chunk_texts
from foldline.log.jobs.writing.meanwhile import said_meanwhile
from foldline.log.jobs.writing.preparing import OutlineAt, outline_before, outline_now
from foldline.log.jobs.writing.provider_calls import provider_call
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.fixed_parts import FixedParts
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import ENTRY, JOB, one_of

RULES_LEFT_OUT: Final = "rules_left_out"
BASE_MOVED: Final = "the session was edited while the summary was written"
# How long a lock is waited for: one locked session must not keep the jobs of all others waiting.
LOCK_TIMEOUT_MILLISECONDS: Final = 500
# How long a summary waits before it looks again whether the tool loop has ended: as long as its job exists, within
# these bounds. An append that ends the loop wakes the job at once.
LEAST_WAIT_MILLISECONDS: Final = 5_000
MOST_WAIT_MILLISECONDS: Final = 3_600_000

# How long a provider keeps a prefix in its cache after its last use (Anthropic, "Prompt caching": five minutes; OpenAI:
# five to ten).
CACHED_MILLISECONDS: Final = 300_000

_AGE: Final = bindparam("now", type_=BigInteger) - JOB.c.created_at
_WAIT: Final = case(
    (_AGE < LEAST_WAIT_MILLISECONDS, LEAST_WAIT_MILLISECONDS),
    (_AGE > MOST_WAIT_MILLISECONDS, MOST_WAIT_MILLISECONDS),
    else_=_AGE,
)
_PUT_OFF: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), one_of(JOB.c.state, ACTIVE))
    .values(state=JobState.QUEUED, lease=None, attempts=0, error=bindparam("note"), waits_for=None)
    .values(
        not_before=func.coalesce(bindparam("until", type_=BigInteger), bindparam("now", type_=BigInteger) + _WAIT),
        parameters=bindparam("range"),
    )
)
_SAID_AT: Final = select(ENTRY.c.created_at).where(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"), ENTRY.c.seq == bindparam("seq")
)


def publish(store: Store, claim: Claim, draft: SummaryDraft) -> JobState:
    """Publish a summary in one transaction; the state in which the job ended.

    The summary applies if the lease is current, the session is not deleted, and its path gained only messages and
    inline compactions since the claim. Publishing twice changes nothing.

    Raises:
        Busy: the session stayed locked for `LOCK_TIMEOUT_MILLISECONDS`; try again.
    """
    # Assembling the items takes a while, so it is done before the session is locked.
    lines = assemble(claim.request.items)
    ledger = snapshot_of(lines, claim.request.dismissed)
    draft = _keeping_rules(draft, lines, claim)
    draft = with_used(draft, claim.request, lines, said_meanwhile(store, claim))
    written = _Written(draft, ledger, outline_before(store, claim))
    with store.write() as tx:
        tx.wait_at_most(LOCK_TIMEOUT_MILLISECONDS)
        path, job = open_claimed(tx, claim)
        if path is None or job is None:
            return state_of(tx, claim.job_id)
        kind = JOB_KINDS[job.kind]
        if kind.is_edit and _has_moved(tx, path, loads(job.claim)["base"]):
            before = path.leaf_seq
            end(tx, claim.job_id, JobState.SUPERSEDED, BASE_MOVED)
            trigger.run_trigger(tx, path)
            paths.save_edited(tx, path, before)
            return JobState.SUPERSEDED
        return _publish(tx, path, claim, job, written)


def _keeping_rules(draft: SummaryDraft, lines: Sequence[LedgerLine], claim: Claim) -> SummaryDraft:
    """The draft with the user's standing rules, whoever wrote it; its `details` say how many did not fit."""
    text, left_out = with_rules(draft.text, lines, claim.request.max_tokens, claim.request.headings)
    return replace(draft, text=text, details={**draft.details, **({RULES_LEFT_OUT: left_out} if left_out else {})})


class _Written(NamedTuple):
    """What is published: a draft, its ledger, and the outline of a long branch as it was just before."""

    draft: SummaryDraft
    ledger: Sequence[ItemAt]
    read: OutlineAt | None


def _publish(tx: Transaction, path: Path, claim: Claim, job: Any, written: _Written) -> JobState:
    before, draft = path.leaf_seq, written.draft
    tokens = tokens_of(claim.wanted, draft)
    if draft.block and provider_call(tx, path, claim.wanted, outline_now(tx, path, written.read)) is None:
        # What was said meanwhile would be written in another way after the block.
        decline_held(tx, job, BASE_MOVED)
        return JobState.QUEUED
    if not draft.text.strip() or tokens > claim.wanted.covered.max_tokens + summary_frame_tokens():
        error = f"the summary takes {tokens} tokens, more than its range allows"
        if draft.block:
            decline_held(tx, job, error)
            return JobState.QUEUED
        end_without_summary(tx, path, job, JobState.FAILED, error)
        state = JobState.FAILED
    else:
        summary = keep(tx, path, claim.wanted, draft, tokens, ledger=written.ledger)
        if lines := draft.details.get(PATCHED_BY_USE):
            tx.events.append(SummaryPatched(lines))
        chunk_texts.remove(tx, path.session.pk)
        made = Made(claim.wanted, summary, request_from_json(job.parameters))
        state = _apply_or_wait(tx, path, job, made, written)
    paths.save_edited(tx, path, before)
    return state


def _apply_or_wait(tx: Transaction, path: Path, job: Any, made: Made, written: _Written) -> JobState:
    outline = outline_now(tx, path, written.read)
    waits = why_wait(tx, path, made, outline)
    if waits is not None and not has_waiting(tx, path, made.request):
        put_off(tx, job.id, made, waits)
        return JobState.QUEUED
    if not finish(tx, path, job.id, made, outline, facts={"usage": written.draft.usage}):
        end_without_summary(tx, path, job, JobState.FAILED, NO_ROOM)
        return JobState.FAILED
    if JOB_KINDS[job.kind].is_edit:
        path.failures = 0
    return JobState.SUCCEEDED


class Wait(NamedTuple):
    """Why a summary waits, and until when; without a time, for longer and longer."""

    note: str
    until: int | None = None


def why_wait(tx: Transaction, path: Path, made: Made, outline: Outline) -> Wait | None:
    """What an automatic summary has to wait for; None for one that is published at once."""
    request = made.request
    if request.is_asked or not JOB_KINDS[request.kind].is_edit or not fits(path, path.aims()):
        return None
    if _strips_loop(path, made, outline):
        return Wait(IN_TOOL_LOOP)
    return _change_awaited(tx, path, made, outline)


def _change_awaited(tx: Transaction, path: Path, made: Made, outline: Outline) -> Wait | None:
    """What the policy has a summary wait for while an interim one stands for some of its range in a cached view."""
    covered, aims = made.wanted.covered, path.aims()
    if not aims.policy.awaits_change or should_compact(path, aims):
        return None
    if not any(edit.first <= covered.last and covered.first <= edit.last for edit in outline.live.interims):
        return None
    at = {"pk": path.session.pk, "branch": path.branch, "seq": path.leaf_seq}
    said_at = tx.execute(_SAID_AT, at).scalar() or 0
    until = said_at + CACHED_MILLISECONDS
    return Wait(FOR_A_CHANGE, until) if tx.now < until else None


def _strips_loop(path: Path, made: Made, outline: Outline) -> bool:
    """Whether a summary would strip the reasoning of a tool loop that goes on.

    The block of a provider strips none, as long as it stands for the beginning of the view as it is now.
    """
    covered, beginning = made.wanted.covered, made.wanted.by_provider
    now = Seen(FixedParts(path.session, path.session.model, ()).digest, path.edits_at)
    is_current = beginning is not None and beginning.view == now and not path.session.pins_tokens
    if made.summary.has_block and is_current:
        return False
    return strips_open_loop(outline, [Edit("condense", covered.first, covered.last)], path.edits_at)


def put_off(tx: Transaction, job_id: str, made: Made, wait: Wait) -> None:
    """Put the job back into the queue for a while, with the range that its kept summary covers."""
    request = replace(made.request, until=made.wanted.covered.last)
    row = {"job": job_id, "now": tx.now, "range": request_to_json(request), "note": wait.note, "until": wait.until}
    tx.change(_PUT_OFF, row)


def finish(
    tx: Transaction, path: Path, job_id: str, made: Made, outline: Outline, *, facts: Mapping[str, Any] | None = None
) -> bool:
    """Apply a summary and end its job as succeeded; False, and nothing changed, if there is no room for the summary.

    `facts` are added to the job's result.
    """
    kind = JOB_KINDS[made.request.kind]
    applied = kind.apply(tx, path, made, outline)
    if applied is None:
        return False
    end(tx, job_id, JobState.SUCCEEDED, result={**applied.result, **(facts or {})})
    kind.follow(tx, path, made.request, applied.outline)
    return True


def _has_moved(tx: Transaction, path: Path, base: list[int] | None) -> bool:
    """Whether the path gained anything but messages and inline compactions since `base` (branch and seq)."""
    if path.edits_at == (tuple(base) if base else None):
        return False
    after = base[1] if base else 0
    parts = [Segment(p.branch, max(p.first, after + 1), p.last) for p in segments.segments(tx, path) if p.last > after]
    rows = entry_log.rows_in(tx, path.session, parts, (ENTRY.c.kind, ENTRY.c.body), kinds=entry_log.EDITING)
    return any(kind != "compaction" or not loads(body)["is_inline"] for kind, body in rows)
