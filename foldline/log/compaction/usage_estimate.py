"""What the history takes as the policy counts: by its estimate, or by what a provider reported of it.

The exact count has no part in this: what was reported moves its multiplier (`foldline.log.compaction.usage`).
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


def gauge(tx: Transaction, path: Path, aims: Aims) -> Outline | None:
    """See to it that it is known what the view takes by the policy's counter; the outline if it had to be read."""
    if path.estimated is not None or aims.policy.counter == EXACT:
        return None
    outline = entry_log.outline(tx, path)
    path.estimated = estimated_tokens(path, aims, outline)
    return outline


def estimated_tokens(path: Path, aims: Aims, outline: Outline) -> int:
    """What the history at the leaf takes, in unscaled tokens of the policy's counter."""
    seen = outline.measured(aims.gauge.measure)
    reported = _reported(path)
    if reported is None or not aims.policy.trusts_usage:
        return seen.tokens
    units = [item for item in seen.items if isinstance(item, Unit) and item.last > path.reported_seq]
    before = sum(entry.tokens for unit in units for entry in unit.entries if entry.seq <= path.reported_seq)
    return _history(path, aims.policy, reported) + sum(unit.tokens for unit in units) - before


def _reported(path: Path) -> int | None:
    """What a provider reported of the view, unless that was edited since, by whichever version of this program."""
    is_stale = path.edits_at is not None and path.edits_at[1] > path.reported_seq
    return None if is_stale else path.reported


def trusting(path: Path, aims: Aims, outline: Outline, gauge: Gauge) -> Gauge:
    """The gauge, with what a provider reported where the policy trusts that."""
    if _reported(path) is None or not aims.policy.trusts_usage or aims.policy.counter == EXACT:
        return gauge
    return replace(gauge, reported=estimated_tokens(path, aims, outline))


def context_tokens(path: Path, aims: Aims, outline: Outline) -> int:
    """What the view takes as a whole as the policy counts: scaled where it counts exactly."""
    if aims.policy.counter == EXACT:
        return path.used
    return estimated_tokens(path, aims, outline) + _fixed_tokens(path, aims.policy)


def should_compact(path: Path, aims: Aims, added_tokens: int = 0) -> bool:
    """Whether the view at the leaf, which is estimated, and so many more tokens are over the trigger, or do not fit."""
    tokens = path.kept if path.estimated is None else path.estimated
    goals = aims.gauge.goals
    is_over = tokens + added_tokens > min(goals.trigger, goals.limit)
    return is_over or path.kept + added_tokens > aims.goals.limit


def note_report(path: Path, usage: Usage, *, is_of_next: bool) -> None:
    """Keep what a provider reported of the view at the leaf, unless that was another view, or another model's count.

    `is_of_next`: the next entry is the answer that it reported too.
    """
    session = path.session
    prompt_tokens = usage.prompt_tokens(session.model)
    is_current = usage.version == session.version and usage.model in {None, session.model}
    if not is_current or prompt_tokens <= 0:
        return
    path.reported = prompt_tokens + (usage.output if is_of_next else 0)
    path.reported_seq = path.leaf_seq + (is_of_next and usage.output > 0)
    if session.policy.trusts_usage and session.policy.counter != EXACT:
        path.estimated = _history(path, session.policy, path.reported)


def counted_seq(path: Path) -> int:
    """Up to which seq a provider's report counts the view; 0 where the policy counts all of it."""
    return 0 if _reported(path) is None or not path.session.policy.trusts_usage else path.reported_seq


def _history(path: Path, policy: Policy, tokens: int) -> int:
    """What is left of these tokens for the history."""
    return max(0, tokens - _fixed_tokens(path, policy))


def _fixed_tokens(path: Path, policy: Policy) -> int:
    return path.session.fixed().estimated(policy.counter, path.session.frame.provider)
