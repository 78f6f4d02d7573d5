"""Compactions as entries, and applying a summary to a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compaction.budget import Goals
from compaction.cuts import SummaryRange
from compaction.edits import Edit
from compaction.outline import Outline
from compaction.plan import Plan
from compaction.stages.truncate import fit
from sessions import log
from sessions.paths import Path
from sessions.store import Transaction


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction as it is listed; tokens are scaled counts of the whole view."""

    id: str
    reason: str
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    is_live: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that is kept: its id and what its message takes, in unscaled tokens."""

    id: str
    tokens: int
    is_degraded: bool = False


def add_compaction(
    tx: Transaction,
    path: Path,
    outline: Outline,
    edits: Sequence[Edit],
    *,
    reason: str,
    stages_used: Sequence[str],
    is_inline: bool = True,
    lifts_bars: bool = False,
) -> Compaction:
    """Add a compaction after which the path shows as `outline`; asking for a summary lifts bars on undone ranges."""
    before = path.used
    path.kept, path.owed_tokens = outline.tokens, outline.owed_tokens
    path.gauged = None
    live = outline.live.barring(()) if lifts_bars else outline.live
    body: dict[str, Any] = {
        "reason": reason,
        "stages_used": list(stages_used),
        "tokens_before": before,
        "tokens_after": path.used,
        "is_inline": is_inline,
        "edits": edits,
    }
    name = log.add_edits(tx, path, "compaction", body, live)
    return Compaction(name, reason, list(stages_used), before, path.used)


def apply_summary(
    tx: Transaction,
    path: Path,
    outline: Outline,
    goals: Goals,
    *,
    covered: SummaryRange,
    summary: Summary,
    is_asked: bool,
) -> tuple[Compaction, Outline] | None:
    """Put a summary in the place of its range and fit the view again; the outline is that of the path after it.

    None, and nothing changed, if that would turn a view that fits into one that does not, or make a worse one worse.
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
    after = outline.edited([condense])
    plan = fit(after, Plan(after.tokens), goals)
    if plan.edits:
        after = after.edited(plan.edits)
    if after.tokens > goals.limit and after.tokens >= outline.tokens:
        return None
    compaction = add_compaction(
        tx,
        path,
        after,
        (condense, *plan.edits),
        reason="summary",
        stages_used=("summarize", *plan.stages_used),
        is_inline=False,
        lifts_bars=is_asked,
    )
    return compaction, after
