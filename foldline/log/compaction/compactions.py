"""Adds compactions to a path as entries, and applies a finished summary to its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from foldline.engine.edits import Edit
from foldline.engine.messages import JsonObject
from foldline.engine.models.gauge import Frame
from foldline.engine.models.windows import known_model
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.planning.image_limits import images_shown
from foldline.engine.planning.pipeline import goals_beyond_due
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.prefix_price import first_edited, price_of, rewritten
from foldline.engine.planning.stages.truncate import fit
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.report import Happened, level_of, report_of
from foldline.engine.tokens.counter import scaled
from foldline.engine.tokens.estimates import EXACT
from foldline.log.compaction import summaries
from foldline.log.compaction.interims import with_interims
from foldline.log.compaction.summaries import Summary
from foldline.log.events import CompactionMade, StageRan
from foldline.log.storage import entry_log, segments
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction

# The reason of a compaction that leaves out reasoning which a provider refused.
REASONING: Final = "reasoning"
# Where the body of a compaction has what it costs.
PRICE_KEY: Final = "price"
_LISTED: Final = ("reason", "stages_used", "tokens_before", "tokens_after", "is_inline")


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction as the API lists it; `tokens_before` and `tokens_after` are scaled counts of the whole view.

    `price` has the fields of a `PrefixPrice`; None for a compaction of an earlier version or of a session file.
    `report` has the figures that the policy's `report` names. `summary_facts` describe the summary that the compaction
    published (see `summary_facts_of`); they are empty for an inline compaction.
    """

    id: str
    reason: str
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    is_live: bool = True
    report: Mapping[str, Any] = field(default_factory=dict)
    summary_facts: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, Any] | None = None


def add_compaction(
    tx: Transaction,
    path: Path,
    outline: Outline,
    edits: Sequence[Edit],
    *,
    reason: str,
    stages_used: Sequence[str],
    report: Mapping[str, Any],
    summary_facts: Mapping[str, Any] | None = None,
    origin: JsonObject | None = None,
    is_inline: bool = True,
    lifts_bars: bool = False,
) -> Compaction:
    """Add a compaction entry to the path, whose view is `outline` from then on.

    `lifts_bars`: ranges whose summary was undone may be summarized again. `origin` is the entry as a session file had
    it, for an imported compaction; then only the tokens of `outline` need to be whole, and all other counts are made
    when they are needed.
    """
    before = path.used
    path.reported = None
    path.kept, path.pending_tokens = outline.tokens, outline.pending_tokens
    path.images = path.estimated = price = None
    if origin is None:
        path.images, path.estimated = images_shown(outline, path.session.image_limits), _estimated(path, outline)
        price = _price(path, outline, edits, before - path.used)
    live = outline.live.barring(()) if lifts_bars else outline.live
    body: dict[str, Any] = {
        "reason": reason,
        "stages_used": list(stages_used),
        "tokens_before": before,
        "tokens_after": path.used,
        "report": report,
        entry_log.SUMMARY_FACTS_KEY: summary_facts or {},
        "is_inline": is_inline,
        "edits": edits,
        PRICE_KEY: price,
        **({} if origin is None else {"origin": origin}),
    }
    name = entry_log.add_edits(tx, path, "compaction", body, live)
    listed = {key: body[key] for key in _LISTED}
    facts = {**listed, **report, **(summary_facts or {})}
    tx.events.append(CompactionMade(path.session.id, name, reason, path.session.policy.preset, facts))
    return Compaction(
        name,
        reason,
        list(stages_used),
        before,
        path.used,
        report=report,
        summary_facts=summary_facts or {},
        price=price,
    )


def _estimated(path: Path, outline: Outline) -> int | None:
    measure = path.aims().gauge.measure
    return None if measure is outline.measure else outline.measured(measure).tokens


def _price(path: Path, after: Outline, edits: Sequence[Edit], saved_tokens: int) -> Mapping[str, Any]:
    """What the compaction costs and saves at the prices of the session's model, as an entry stores it."""
    known, multiplier = known_model(path.session.model), path.session.multiplier
    found = price_of(
        scaled(rewritten(after, first_edited(edits)), multiplier), saved_tokens, known.prices if known else None
    )
    return found._asdict()


def leave_reasoning_out(tx: Transaction, path: Path) -> Compaction:
    """Add a compaction that leaves out all bound reasoning there is, and nothing else."""
    outline = entry_log.outline(tx, path)
    after = replace(outline, live=replace(outline.live, reasoning_from=path.leaf_seq + 1))
    return add_compaction(tx, path, after, (), reason=REASONING, stages_used=(), report={})


def reported(path: Path, aims: Aims, happened: Happened) -> dict[str, Any]:
    """The figures that the policy's `report` names, by the policy's own count; empty if it names none.

    The outlines in `happened` are counted exactly.
    """
    policy, measure = aims.policy, aims.gauge.measure
    if not policy.report:
        return {}
    before, after = happened.before.measured(measure), happened.after.measured(measure)
    level = use_level(path, policy, before.tokens)
    return report_of(policy.report, replace(happened, before=before, after=after, level=level))


def use_level(path: Path, policy: Policy, tokens: int, frame: Frame | None = None) -> str:
    """The highest level of use that a view reaches, such as `warning`; `none` if it reaches none.

    `tokens` are those of the view's history, unscaled, by the policy's counter.
    """
    session = path.session
    frame = frame or session.frame
    if policy.counter == EXACT:
        return level_of(policy, frame, session.used(tokens))
    return level_of(policy, frame, tokens + session.fixed().estimated(policy.counter, frame.provider))


def apply_summary(
    tx: Transaction,
    path: Path,
    outline: Outline,
    policy: Policy,
    *,
    covered: SummaryRange,
    summary: Summary,
    is_asked: bool,
    is_half: bool = False,
    most: int | None = None,
) -> tuple[Compaction, Outline] | None:
    """Condense the range into its summary and fit the view again: the compaction, and the path's outline after it.

    None, and nothing changed, if a view that fits would no longer fit, or one that does not fit would grow. `policy`
    decides what the compaction reports, and `is_half` what that says of the summary; the session's own policy sets the
    budget. Interim summaries of what is still hidden may fill the view up to `most` tokens, if that is given.
    """
    condense = Edit(
        "condense",
        covered.first,
        covered.last,
        summary=summary.id,
        tokens=summary.tokens,
        original_tokens=covered.original_tokens,
        replaces=covered.replaces,
    )
    goals, aims = path.goals(), path.aims(policy)
    condensed = outline.edited([condense])
    plan = fit(condensed, Plan(condensed.tokens), goals_beyond_due(goals, path.aims().gauge, condensed))
    after = condensed.edited(plan.edits) if plan.edits else condensed
    if after.tokens > goals.limit and after.tokens >= outline.tokens:
        return None
    _note_savings(tx, path, summarize=outline.tokens - condensed.tokens, truncate=condensed.tokens - after.tokens)
    after, interims = with_interims(tx, path, after, path.aims(), before=outline.live, most=most)
    edits = (condense, *plan.edits, *interims)
    parts = segments.segments(tx, path, since=covered.last + 1)
    happened = Happened(outline, after, edits, is_half=is_half, is_without_model=summary.is_without_model)
    compaction = add_compaction(
        tx,
        path,
        after,
        edits,
        reason="summary",
        stages_used=("summarize", *plan.stages_used),
        report=reported(path, aims, happened),
        summary_facts=summary_facts_of(tx, path, parts, summary, after=after, last=covered.last),
        is_inline=False,
        lifts_bars=is_asked,
    )
    return compaction, after


def _note_savings(tx: Transaction, path: Path, **tokens_by_stage: int) -> None:
    """Record what stages saved at a publish, where no plan ran; the summary of a hidden range saves nothing."""
    preset, multiplier = path.session.policy.preset, path.session.multiplier
    for stage, tokens in tokens_by_stage.items():
        if tokens > 0:
            tx.events.append(StageRan(stage, preset, None, tokens * multiplier // 1000))


def summary_facts_of(
    tx: Transaction, path: Path, parts: Sequence[Segment], summary: Summary, *, after: Outline, last: int
) -> dict[str, Any]:
    """The facts of a compaction's summary that the API lists, stored under `SUMMARY_FACTS_KEY` in the entry's body.

    `last` is the seq of the last entry that the summary covers, `parts` are the path's segments after that, and `after`
    is the outline with the summary. Under a policy that lists files, those of the summaries before it are in its
    `details` too.
    """
    kept = next((item.first for item in after.items if isinstance(item, Unit) and item.first > last), None)
    return {
        "first_kept_entry_id": None if kept is None else segments.id_at(parts, kept),
        "details": _details(tx, path, after, last, summary),
        "from_hook": summary.from_hook,
    }


def _details(tx: Transaction, path: Path, after: Outline, last: int, summary: Summary) -> Mapping[str, Any]:
    earlier = [edit.summary for edit in after.live.condensed if edit.last < last]
    if not (path.session.policy.lists_files and earlier):
        return summary.details
    files = summaries.files_of(tx, earlier) | summaries.files_from(summary.details)
    return {**summary.details, **summaries.details(files)}
