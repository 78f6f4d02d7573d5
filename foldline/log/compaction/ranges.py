"""Range summaries: which range is next, the summarizer's input for it, and publishing the summary in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

from foldline.engine.edits import LiveEdits
from foldline.engine.facts import Seen, files_of
from foldline.engine.files import Files
from foldline.engine.messages import BRANCH_ROLE, Message
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.models.compactors import compactor_of
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning import cut_points
from foldline.engine.planning.chunks import chunk_tokens, stage_limit
from foldline.engine.planning.cut_points import InputLimits, SummaryRange, leading_range, next_range, turn_split_at
from foldline.engine.planning.recent import due_items, items_until
from foldline.engine.policies.policy import EXTRACTIVE, PROVIDER, Policy, Stage
from foldline.engine.recall.tool import name_in
from foldline.engine.summaries.file_lists import file_lists
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.summaries.provider_block import Beginning
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import EXACT
from foldline.engine.wording import searchable
from foldline.log.compaction import dismissals, summaries
from foldline.log.compaction.compactions import Compaction, apply_summary
from foldline.log.compaction.dismissals import Ledger
from foldline.log.compaction.summaries import Made, Wanted
from foldline.log.compaction.summary_request import SummaryRequest, requested_aims, requested_policy, targeted_gauge
from foldline.log.compaction.usage_estimate import with_reported_usage
from foldline.log.storage import entry_log, segments
from foldline.log.storage.fixed_parts import FixedParts
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.store import Limits, Transaction

# The share of a summary that its lists of files may take, and the smallest summary that has lists of files.
APPENDIX_SHARE: Final = 4
APPENDIX_FROM: Final = 8 * SMALLEST_SUMMARY
NO_ROOM: Final = "no_room"
# Of what several calls could read; the rest is for their prompts, and for messages that do not divide evenly.
READ_SHARE: Final = 0.9
# Tokens for the blank line between a summary and its appendix; tokens may also merge differently across it.
APPENDIX_SEAM: Final = 4


@dataclass(frozen=True, slots=True)
class Applied:
    """A published summary: the result of its job, and the path's outline after it."""

    result: dict[str, Any]
    outline: Outline
    compaction: Compaction | None = None


def range_of(path: Path, outline: Outline, request: SummaryRequest, limits: Limits) -> SummaryRange | None:
    """The range that this request would summarize now, which a summarizer can read; None if nothing is due."""
    aims, gauge, due = _due(path, outline, request)
    chunk = chunk_tokens(*_chunked(path, outline, aims, gauge, due))
    tokens = min(limits.summarizer_tokens, chunk)
    reads = InputLimits(tokens, int(tokens * max(1, limits.summarizer_calls * READ_SHARE)))
    if request.half_tokens is not None:
        reads = InputLimits(tokens // 2, min(reads.most, request.half_tokens))
    return next_range(outline, aims.goals, reads, due, is_asked=request.is_asked)


def _chunked(path: Path, outline: Outline, aims: Aims, gauge: Gauge, due: int) -> tuple[Outline, Stage, int, int]:
    """What the policy's chunks follow from: the outline in its measure, its stage, the window, and what is due."""
    window = path.session.frame.window(path.session.policy).tokens
    return outline.measured(gauge.measure), aims.policy.stage("summarize"), window, due


def _if_refused(
    path: Path, outline: Outline, request: SummaryRequest, covered: SummaryRange, limits: Limits
) -> dict[str, Any] | None:
    """What a request becomes if a model refuses this range: one for its oldest half, then one without a model.

    There is a half if that is worth a summary, and a summary without a model if a caller asked, or one is named.
    """
    policy = requested_policy(path, request)
    if not policy.stage("summarize").number("falls_back"):
        return None
    items = (item for item in outline.items if covered.first <= item.first <= covered.last)
    half = sum(item.original_tokens if isinstance(item, Unit) else item.edit.tokens for item in items) // 2
    found = range_of(path, outline, replace(request, half_tokens=half), limits)
    if request.half_tokens is None and found is not None and found.last < covered.last:
        return {"half_tokens": half}
    is_plain = request.is_asked or EXTRACTIVE in (policy.writers or limits.usual)
    return {"half_tokens": None, "is_plain": True} if is_plain and request.half_tokens is not None else None


def why_none(tx: Transaction, path: Path, outline: Outline, request: SummaryRequest) -> str:
    """Why a request led to no summary: one of `Held`, or `NO_ROOM` if a kept summary did not fit in the view."""
    if range_of(path, outline, request, tx.limits) is not None:
        return NO_ROOM
    return cut_points.why_none(outline, _due(path, outline, request)[2], is_asked=request.is_asked)


def _due(path: Path, outline: Outline, request: SummaryRequest) -> tuple[Aims, Gauge, int]:
    """The request's aims, its gauge, and the number of items, from the oldest, that it may summarize."""
    aims = requested_aims(path, request)
    # The target of an automatic request bounds the size of the summary, and does not make more entries due.
    is_bound_only = request.target_tokens is not None and not request.is_asked
    gauge = path.aims(aims.policy).gauge if is_bound_only else targeted_gauge(aims, request, outline)
    if not request.is_asked:
        gauge = with_reported_usage(path, aims, outline, gauge)
    due = due_items(outline, aims.policy, gauge, is_asked=request.is_asked)
    if request.until is not None:
        due = min(due, items_until(outline, request.until))
    return aims, gauge, due


def find(tx: Transaction, path: Path, request: SummaryRequest, outline: Outline) -> Wanted | None:
    """The summary to make next for this request; None if nothing is left to summarize."""
    policy = requested_policy(path, request)
    covered, by_provider = _leading(tx, path, request, outline)
    covered = covered or range_of(path, outline, request, tx.limits)
    if covered is None:
        return None
    parts = segments.segments(tx, path)
    ends = segments.id_at(parts, covered.first), segments.id_at(parts, covered.last)
    files = files_in(tx, path, outline, (covered.first, covered.last), covered.replaces)
    dismissed = dismissals.dismissed_keys(tx, path.session)
    key = summaries.key_of(ends, covered.replaces, request, policy, by_provider, dismissed=dismissed)
    appendix = appendix_for(path, outline, policy, files, covered.max_tokens)
    return Wanted(covered, ends, key, files, appendix, dismissed, by_provider)


def _leading(
    tx: Transaction, path: Path, request: SummaryRequest, outline: Outline
) -> tuple[SummaryRange | None, Beginning | None]:
    """What the model's own provider is to summarize, and the beginning of a view that this is; None if it is not asked.

    It cannot be where there are pins: they are before everything in a view, as its block would have to be.
    """
    compactor = compactor_of(path.session.model)
    if requested_policy(path, request).summarizer != PROVIDER or request.declined or compactor is None:
        return None, None
    is_heeded = compactor.takes_instructions or not request.instructions
    if compactor.name not in tx.limits.compactors or not is_heeded or path.session.pins_tokens:
        return None, None
    aims, _, due = _due(path, outline, request)
    covered = leading_range(outline, aims.goals, due, is_asked=request.is_asked)
    fixed = FixedParts(path.session, path.session.model, ())
    if covered is None:
        return None, None
    return covered, Beginning(path.session.model, Seen(fixed.digest, path.edits_at))


def files_in(tx: Transaction, path: Path, outline: Outline, span: tuple[int, int], replaces: Sequence[str]) -> Files:
    """The files that were read and changed in the range `span` of seqs, also under the summaries `replaces`."""
    units = (item for item in outline.items if isinstance(item, Unit))
    entries = [entry for unit in units for entry in unit.entries if span[0] <= entry.seq <= span[1]]
    seqs = [entry.seq for entry in entries if entry.role == BRANCH_ROLE]
    branch_bodies = entry_log.bodies_at(tx, path, seqs) if seqs else []
    found = files_of(call for entry in entries for call in entry.calls) | summaries.files_of(tx, replaces)
    for body in branch_bodies:
        found |= summaries.files_from(body.get("details", {}))
    return found


def appendix_for(path: Path, outline: Outline, policy: Policy, files: Files, max_tokens: int) -> str:
    """What stands below a summary of at most `max_tokens`: the lists of files, if the policy wants them, and a tool.

    That is the recall tool, if the session has it or its model called it in this outline. It is empty if the summary is
    small.
    """
    if max_tokens < APPENDIX_FROM:
        return ""
    called = (call.tool for entry in outline.entries_in_view() for call in entry.calls)
    recall = name_in(path.session.tools, called)
    named = searchable(recall) if recall else ""
    room = max_tokens // APPENDIX_SHARE - APPENDIX_SEAM - (count_text(named) + APPENDIX_SEAM if named else 0)
    return "\n\n".join(filter(None, (file_lists(files, room) if policy.lists_files else "", named)))


def text_tokens(wanted: Wanted) -> int:
    """The tokens that the summary's text may take beside its appendix."""
    below = count_text(wanted.appendix) + APPENDIX_SEAM if wanted.appendix else 0
    return wanted.covered.max_tokens - below


def make_input(tx: Transaction, path: Path, wanted: Wanted, request: SummaryRequest, outline: Outline) -> SummaryInput:
    """The summarizer's input: the texts of the summaries that are replaced, and the originals under none of them."""
    covered, policy = wanted.covered, requested_policy(path, request)
    messages, items = originals(tx, path, outline.live, wanted)
    previous = tuple(summaries.text_of(tx, summary) for summary in covered.replaces)
    split = _split_at(outline, covered, policy)
    before = tuple(message for seq, message in messages.items() if seq < split)
    prefix = tuple(message for seq, message in messages.items() if seq >= split)
    if previous and not before:
        # Without other history, the former summary is updated with the beginning of the turn.
        before, prefix, split = prefix, (), covered.last + 1
    call_tokens, call_counter = _call_limit(tx, path, outline, request)
    return SummaryInput(
        previous=previous,
        stories=tuple(filter(None, (summaries.story_of(tx, summary) for summary in covered.replaces))),
        messages=before,
        turn_prefix=prefix,
        max_tokens=text_tokens(wanted),
        call_tokens=call_tokens,
        call_counter=call_counter,
        if_refused=None if request.is_plain else _if_refused(path, outline, request, covered, tx.limits),
        falls_back=request.is_asked and bool(policy.stage("summarize").number("falls_back")),
        is_plain=request.is_plain,
        instructions=request.instructions,
        style=policy.transcript,
        headings=policy.headings,
        ledger=items.until(split),
        turn_ledger=items.since(split),
        dismissed=tuple(items.dismissed),
    )


def _call_limit(tx: Transaction, path: Path, outline: Outline, request: SummaryRequest) -> tuple[int | None, str]:
    """The most tokens of one prompt by the policy's chunks, and their counter; None if it has no chunks.

    Each summarizer has a bound of its own besides. For half of what was refused there is always a limit.
    """
    aims, gauge, due = _due(path, outline, request)
    limit, counter = stage_limit(*_chunked(path, outline, aims, gauge, due)), aims.policy.counter
    if request.half_tokens is None:
        return limit, EXACT if limit is None else counter
    return (tx.limits.summarizer_tokens // 2, EXACT) if limit is None else (limit // 2, counter)


def originals(tx: Transaction, path: Path, live: LiveEdits, wanted: Wanted) -> tuple[dict[int, Message], Ledger]:
    """The range's messages that are under no live summary, by seq, and the ledger of all that it covers, in order.

    Branch summaries have the role `developer`. The ledger also has the items under the summaries in the range.
    """
    covered = wanted.covered
    parts = segments.uncovered(segments.segments(tx, path), live.condensed)
    inside = segments.clipped(list(parts), [(covered.first, covered.last)])
    messages, own = entry_log.messages_and_items(tx, path.session, inside, branch_role="developer")
    ends = {edit.summary: edit.last for edit in live.condensed if edit.summary in covered.replaces}
    found = sorted([*summaries.items_of(tx, ends), *own], key=itemgetter(0))
    return messages, dismissals.ledger_of(found, wanted.dismissed)


def _split_at(outline: Outline, covered: SummaryRange, policy: Policy) -> int:
    """The first seq of the covered part of a turn that the range splits; the seq after the range if it splits none."""
    after = next((item for item in outline.items if item.first > covered.last), None)
    if not policy.splits_turns or not isinstance(after, Unit):
        return covered.last + 1
    start = turn_split_at(outline, after.first)
    return covered.last + 1 if start is None else max(start, covered.first)


def apply(tx: Transaction, path: Path, made: Made, outline: Outline) -> Applied | None:
    """Publish the summary in place of its range; None, and nothing changed, if there is no room for it."""
    request, summary = made.request, made.summary
    most = None if request.target_tokens is None else requested_aims(path, request).goals.target
    applied = apply_summary(
        tx,
        path,
        outline,
        requested_policy(path, request),
        covered=made.wanted.covered,
        summary=summary,
        is_asked=request.is_asked,
        is_half=request.half_tokens is not None,
        most=most,
    )
    if applied is None:
        return None
    compaction, after = applied
    result = {
        "compaction_id": compaction.id,
        "degraded": summary.is_degraded,
        "summarizer": summary.summarizer,
        "declined": request.declined,
        "stages_used": compaction.stages_used,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "report": compaction.report,
    }
    return Applied(result, after, compaction)
