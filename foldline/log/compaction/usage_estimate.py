"""The size of the history by the policy's own counter: an estimate, or what a provider reported.

The exact count is not computed here; reported usage moves its multiplier in `foldline.log.compaction.usage`.
"""

from __future__ import annotations

from dataclasses import replace

from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.estimates import EXACT
from foldline.log.compaction.usage import Usage
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.store import Transaction


def ensure_estimate(tx: Transaction, path: Path, aims: Aims) -> Outline | None:
    """Set `path.estimated` if the policy does not count exactly; the outline if it was read for that, else None."""
    if path.estimated is not None or aims.policy.counter == EXACT:
        return None
    outline = entry_log.outline_in_view(tx, path)
    path.estimated = estimated_tokens(path, aims, outline)
    return outline


def estimated_tokens(path: Path, aims: Aims, outline: Outline) -> int:
    """The unscaled tokens of the history at the leaf, by the policy's counter."""
    seen = outline.measured(aims.gauge.measure)
    reported = _reported(path)
    if reported is None or not aims.policy.trusts_usage:
        return seen.tokens
    units = [item for item in seen.items if isinstance(item, Unit) and item.last > path.reported_seq]
    before = sum(entry.tokens for unit in units for entry in unit.entries if entry.seq <= path.reported_seq)
    return _history(path, aims.policy, reported) + sum(unit.tokens for unit in units) - before


def _reported(path: Path) -> int | None:
    """The provider's report of the view, unless the view was edited since."""
    is_stale = path.edits_at is not None and path.edits_at[1] > path.reported_seq
    return None if is_stale else path.reported


def with_reported_usage(path: Path, aims: Aims, outline: Outline, gauge: Gauge) -> Gauge:
    """The gauge, with the provider's report if the policy trusts usage."""
    if _reported(path) is None or not aims.policy.heeds_usage:
        return gauge
    return replace(gauge, reported=estimated_tokens(path, aims, outline))


def context_tokens(path: Path, aims: Aims, outline: Outline) -> int:
    """The tokens of the whole view by the policy's counter; scaled if that is the exact one."""
    if aims.policy.counter == EXACT:
        return path.used
    return estimated_tokens(path, aims, outline) + fixed_tokens(path, aims.policy)


def should_compact(path: Path, aims: Aims, added_tokens: int = 0) -> bool:
    """Whether the view at the leaf with `added_tokens` more is over the trigger or does not fit the budget.

    `ensure_estimate` must have run.
    """
    tokens = path.counted
    goals = aims.gauge.goals
    is_over = tokens + added_tokens > min(goals.trigger, goals.limit)
    return is_over or path.kept + added_tokens > aims.goals.limit


def fits(path: Path, aims: Aims) -> bool:
    """Whether the view fits the budget, by the exact count and by the policy's own."""
    return path.kept <= aims.goals.limit and path.counted <= aims.gauge.goals.limit


def note_report(path: Path, usage: Usage, *, is_of_next: bool) -> None:
    """Keep a provider's report of the view at the leaf; a report of another version or another model is ignored.

    `is_of_next`: the next entry is the answer whose output tokens the report has.
    """
    session = path.session
    prompt_tokens = usage.prompt_tokens(session.model)
    is_current = usage.version == session.version and usage.model in {None, session.model}
    if not is_current or prompt_tokens <= 0:
        return
    path.reported = prompt_tokens + (usage.output if is_of_next else 0)
    path.reported_seq = path.leaf_seq + (is_of_next and usage.output > 0)
    if session.policy.heeds_usage:
        path.estimated = _history(path, session.policy, path.reported)


def counted_seq(path: Path) -> int:
    """The last seq that a provider's report counts; 0 if the policy counts all entries itself."""
    return 0 if _reported(path) is None or not path.session.policy.trusts_usage else path.reported_seq


def _history(path: Path, policy: Policy, tokens: int) -> int:
    """The tokens of the history in a count of the whole view."""
    return max(0, tokens - fixed_tokens(path, policy))


def fixed_tokens(path: Path, policy: Policy) -> int:
    """The tokens of system prompt, tools and pins by the policy's counter."""
    return path.session.fixed().estimated(policy.counter, path.session.frame.provider)
