"""Branch summaries: which entries a move of the head leaves, what a summarizer reads of them, where the summary goes.

A branch summary is an entry. It is added at the leaf of the branch that the head moved to, when it is finished. So the
entries that were appended in the meantime stay in front of it, and with them the prefix that a provider has cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import facts_of
from foldline.engine.messages import BRANCH_ROLE
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.outline import Item, Outline, Summarized, Unit
from foldline.engine.planning.batches import place
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.stages.truncate import fit
from foldline.engine.policies.report import Happened
from foldline.engine.session_files.trees import Kind, TreeEntry, newest_within
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.tokens.counter import MESSAGE
from foldline.engine.view import branch_message
from foldline.engine.wire import loads
from foldline.engine.wording import summary_frame_tokens
from foldline.log.compaction import dismissals, ranges, summaries
from foldline.log.compaction.compactions import add_compaction, reported
from foldline.log.compaction.interims import with_interims
from foldline.log.compaction.ranges import Applied
from foldline.log.compaction.summaries import Made, Summary, Wanted
from foldline.log.compaction.summary_request import LeftRange, SummaryRequest, requested_policy
from foldline.log.events import BranchSummarized
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

REASON: Final = "branch"
# Entries of the left range that are considered at least; each takes no less than the framing of a message.
MIN_ENTRIES_CONSIDERED: Final = 1_000


def left_behind(tx: Transaction, old: Path, new: Path) -> LeftRange | None:
    """The entries that are on the old path of a session and not on the new one; None if there are none."""
    common = 0
    for mine, other in zip_longest(segments.segments(tx, old), segments.segments(tx, new)):
        if mine is None or other is None or mine.branch != other.branch:
            break
        common = min(mine.last, other.last)
        if mine.last != other.last:
            break
    if common == old.leaf_seq:
        return None
    # A branch without entries of its own ends on its parent's.
    branch = segments.segments(tx, old)[-1].branch
    return LeftRange(branch, common + 1, old.leaf_seq, old.edits_at)


def find(tx: Transaction, path: Path, request: SummaryRequest, _outline: Outline) -> Wanted | None:
    """The branch summary to make; None if the left range shows nothing in a view."""
    old, left = _left_path(tx, path.session, request)
    policy = requested_policy(path, request)
    window = path.session.frame.window(path.session.policy).tokens
    # In a small window the reserve gives way: half of the window is room for the input.
    room = min(tx.limits.summarizer_tokens, max(window - policy.branch_reserve_tokens, window // 2))
    outline = entry_log.outline(
        tx, old, _live(tx, old, left), since=max(left.first, left.last - max(MIN_ENTRIES_CONSIDERED, room // MESSAGE))
    )
    items = outline.items
    if not items:
        return None
    covered = _covered_range(items, _newest_within_room(items, room), path.goals(policy).summary_max)
    # The lists of files cover the whole left range, also what there is no room to read.
    replaced = [edit.summary for edit in _summaries(items)]
    files = ranges.files_in(tx, old, outline, (left.first, left.last), replaced)
    parts = segments.segments(tx, old)
    ends = segments.id_at(parts, covered.first), segments.id_at(parts, covered.last)
    dismissed = dismissals.dismissed_keys(tx, path.session)
    key = summaries.key_of(ends, covered.replaces, request, policy, dismissed=dismissed)
    appendix = ranges.appendix_for(path, outline, policy, files, covered.max_tokens)
    return Wanted(covered, ends, key, files, appendix, dismissed)


def _live(tx: Transaction, old: Path, left: LeftRange) -> LiveEdits:
    """The edits of the left branch, without summaries that begin before the left range; originals are read there."""
    live = entry_log.live_edits(tx, old)
    own = tuple(edit for edit in live.condensed if edit.first >= left.first)
    return replace(live, condensed=own)


def _left_path(tx: Transaction, session: Session, request: SummaryRequest) -> tuple[Path, LeftRange]:
    """The path of the left branch, as of the move, and the range that was left.

    Raises:
        LookupError: the request is not for a branch summary.
    """
    if request.left is None:
        message = "the request has no left branch"
        raise LookupError(message)
    now = paths.branch_path(tx, session, request.left.branch)
    return replace(now, leaf_seq=request.left.last, edits_at=request.left.edits_at), request.left


def _newest_within_room(items: Sequence[Item], room_tokens: int) -> list[TreeEntry]:
    """The newest items that fit the room, tool results among them; at least the newest one."""
    return newest_within([*map(_entry, items)], room_tokens) or [_entry(items[-1])]


def _entry(item: Item) -> TreeEntry:
    """An item as one tree entry: a summary has its own id, a batch or message its first seq. A batch is never split."""
    if isinstance(item, Summarized):
        return TreeEntry(item.edit.summary, kind="compaction", tokens=item.edit.tokens)
    kind: Kind = "branch_summary" if item.entries[0].role == BRANCH_ROLE else "message"
    return TreeEntry(str(item.first), kind=kind, tokens=sum(entry.tokens for entry in item.entries))


def _covered_range(items: Sequence[Item], read: Sequence[TreeEntry], most_tokens: int) -> SummaryRange:
    """The range to summarize: from the first entry read that is no summary, to the end of the left range."""
    named = {entry.id for entry in read}
    seqs = [int(entry.id) for entry in read if entry.kind != "compaction"]
    first, last = min(seqs, default=items[-1].last), items[-1].last
    replaced = [edit for edit in _summaries(items) if edit.summary in named]
    units = (item for item in items if isinstance(item, Unit))
    said = sum(entry.tokens for unit in units for entry in unit.entries if entry.seq >= first)
    originals = said + sum(edit.tokens for edit in replaced)
    # A branch summary replaces nothing, so it may be longer than the entries it covers.
    most = max(SMALLEST_SUMMARY, min(most_tokens, originals - summary_frame_tokens() - 1))
    names = tuple(edit.summary for edit in replaced)
    return SummaryRange(first, last, names, originals, saving=0, is_pending=False, max_tokens=most)


def _summaries(items: Iterable[Item]) -> list[Edit]:
    return [item.edit for item in items if isinstance(item, Summarized)]


def make_input(tx: Transaction, path: Path, wanted: Wanted, request: SummaryRequest, _outline: Outline) -> SummaryInput:
    """The summarizer's input: the texts of summaries on the left branch, and the original messages."""
    old, left = _left_path(tx, path.session, request)
    covered, policy = wanted.covered, requested_policy(path, request)
    messages, items = ranges.originals(tx, old, _live(tx, old, left), wanted)
    return SummaryInput(
        previous=tuple(summaries.text_of(tx, summary) for summary in covered.replaces),
        stories=tuple(filter(None, (summaries.story_of(tx, summary) for summary in covered.replaces))),
        messages=tuple(messages.values()),
        max_tokens=ranges.text_tokens(wanted),
        instructions=request.instructions,
        style=policy.transcript,
        headings=policy.headings,
        is_branch=True,
        ledger=tuple(items.items),
        turn_ledger=(),
        dismissed=tuple(items.dismissed),
    )


def apply(tx: Transaction, path: Path, made: Made, outline: Outline) -> Applied | None:
    """Add the summary at the leaf of the path, unless it is there; None, and nothing changed, if there is no room."""
    summary = made.summary
    result = {"degraded": summary.is_degraded, "summarizer": summary.summarizer, "tokens": summary.tokens}
    existing = _existing_entry(tx, path, summary)
    if existing is not None:
        return Applied({**result, "entry_id": existing}, outline)
    message = branch_message(summaries.shown_text(tx, summary.id))
    facts = facts_of(message)._replace(role=BRANCH_ROLE)
    placed = place(facts, path.leaf_seq + 1, path.tail)
    after = outline.adding(placed.facts)
    goals = path.goals()
    plan = fit(after, Plan(after.tokens), goals)
    fitted = after.edited(plan.edits) if plan.edits else after
    is_hidden = any(edit.kind == "hide" and edit.first <= placed.facts.seq <= edit.last for edit in plan.edits)
    if is_hidden or (fitted.tokens > goals.limit and fitted.tokens >= outline.tokens):
        # A marker in place of the summary would say nothing and cost tokens.
        return None
    body = {
        "summary": summaries.shown_text(tx, summary.id),
        "summary_id": summary.id,
        "from": made.request.subject,
        "details": summary.details,
        "from_hook": summary.from_hook,
    }
    entry_id = entry_log.add_branch_summary(tx, path, placed, body)
    tx.events.append(BranchSummarized(path.session.id, entry_id, body))
    if plan.edits:
        fitted, interims = with_interims(tx, path, fitted, path.aims(), before=after.live)
        edits = (*plan.edits, *interims)
        report = reported(path, path.aims(), Happened(after, fitted, edits))
        add_compaction(tx, path, fitted, edits, reason=REASON, stages_used=plan.stages_used, report=report)
    return Applied({**result, "entry_id": entry_id}, fitted)


def _existing_entry(tx: Transaction, path: Path, summary: Summary) -> str | None:
    """The id of the path's entry with this summary, if there is one."""
    columns = (ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.body)
    rows = entry_log.rows_in(tx, path.session, segments.segments(tx, path), columns, kinds=(entry_log.BRANCH_SUMMARY,))
    found = (row for row in rows if loads(row.body).get("summary_id") == summary.id)
    return next((segments.entry_id(row.branch, row.seq) for row in found), None)
