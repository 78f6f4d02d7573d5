"""The statistics of a session against a budget: its own or another model's, also with a call about to be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.library import pending
from foldline.engine.messages import JsonObject
from foldline.engine.models.attachments import Placement
from foldline.engine.models.budget import UNBOUNDED, Goals
from foldline.engine.models.gauge import Frame
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.tokens.counter import count_tools, scaled, unscaled
from foldline.engine.tokens.estimates import EXACT
from foldline.log.compaction.compactions import use_level
from foldline.log.compaction.usage_estimate import ensure_estimate, fixed_tokens
from foldline.log.storage import paths
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.store import Transaction

NOTHING: Final = MappingProxyType({"system": 0, "tools": 0, "pins": 0, "history": 0})


@dataclass(frozen=True, slots=True)
class Stats:
    """The scaled tokens of a view against its budget. A session without messages has 0 everywhere but in `limit`.

    `counted_tokens`, `trigger_tokens` and `target_tokens` are of the history, in the policy's own count. The session
    compacts when the history is over the trigger, or when the view does not fit. Trigger and target are None if that
    count leaves no room for a history, so that the exact count alone decides. `usage_ratio` is the share of the room
    that the view takes, by the policy's own count; by the exact one if the view does not fit and that is more. Above
    `trigger_ratio` it is to be compacted. `warning_level` is the highest level of the policy's layout that is reached
    by its own count, else `none`.
    """

    used: int
    limit: int
    usage_ratio: float
    trigger_ratio: float
    message_count: int
    pending_tokens: int
    breakdown: Mapping[str, int]
    counted_tokens: int = 0
    trigger_tokens: int | None = 0
    target_tokens: int | None = 0
    warning_level: str = "none"
    files: tuple[Placement, ...] = ()

    @property
    def should_compact(self) -> bool:
        """Whether the view is over the trigger, or does not fit."""
        return self.usage_ratio > self.trigger_ratio


def stats(
    tx: Transaction, tenant: str, session_id: str, *, model: str | None = None, max_output_tokens: int | None = None
) -> Stats:
    """The statistics of the view at the head, for the session's model or another.

    Raises:
        NotFound: no such session.
        UnknownModel, InvalidPolicy: the model or output limit gives no budget.
    """
    path = paths.open_head(tx, tenant, session_id)
    frame = path.session.frame_for(model, max_output_tokens)
    if not path.messages:
        limit, trigger = frame.budget(path.session.policy).limit, _ratios(path, path.aims(frame=frame), 0)[1]
        return Stats(0, limit, 0.0, trigger, message_count=0, pending_tokens=0, breakdown=NOTHING)
    return _stats(tx, path, frame, path.used, path.breakdown())


def stats_with_call(
    tx: Transaction,
    tenant: str,
    session_id: str,
    *,
    prompt: str | None,
    tools: Sequence[JsonObject] | None,
    files: Sequence[Any],
    files_share: float | None = None,
    threshold: float | None = None,
) -> Stats:
    """The statistics of the view with a pending call; `files` of the result says how each file is to be sent.

    `tools` None stands for the session's. All files together get `files_share` of what the rest of the call leaves;
    None stands for the share of the policy's layout. `threshold` replaces the trigger.

    Raises:
        NotFound: no such session.
        InvalidMessage: a file has the wrong shape.
    """
    path = paths.open_head(tx, tenant, session_id)
    session = path.session
    taken = {"system": session.fixed_tokens - session.tools_tokens, "pins": session.pins_tokens, "history": path.kept}
    taken["tools"] = session.tools_tokens if tools is None else count_tools(tools)
    multiplier = session.multiplier
    rules = LAYOUTS[session.policy.layout].files
    rules = rules if files_share is None else replace(rules, share=files_share)
    call = pending(unscaled(session.budget.limit, multiplier), taken, prompt=prompt, files=files, rules=rules)
    parts = {name: scaled(tokens, multiplier) for name, tokens in call.breakdown.items()}
    files_taken = tuple(replace(file, tokens=scaled(file.tokens, multiplier)) for file in call.files)
    found = _stats(tx, path, session.frame, scaled(call.used, multiplier), parts)
    found = replace(found, files=files_taken)
    if threshold is None:
        return found
    fixed, _, goals = _own_room(path, path.aims(), 0)
    return replace(found, trigger_ratio=threshold, trigger_tokens=_goal(_tokens_at(threshold, fixed, goals)))


def _stats(tx: Transaction, path: Path, frame: Frame, used: int, parts: Mapping[str, int]) -> Stats:
    session = path.session
    aims = path.aims(frame=frame)
    # The call's own parts are counted exactly, with any counter of the policy.
    added = unscaled(used, session.multiplier) - session.overhead_tokens - path.kept
    if frame.provider != session.frame.provider:
        # An estimate depends on the provider. The path is not saved here.
        path.estimated = None
    ensure_estimate(tx, path, aims)
    counted = added + path.counted
    goals = aims.gauge.goals
    usage, trigger = _ratios(path, aims, added)
    return Stats(
        used=used,
        limit=frame.budget(session.policy).limit,
        usage_ratio=usage,
        trigger_ratio=trigger,
        message_count=path.messages,
        pending_tokens=path.pending_tokens,
        breakdown=parts,
        counted_tokens=counted,
        trigger_tokens=_goal(goals.trigger),
        target_tokens=_goal(goals.target),
        warning_level=use_level(path, session.policy, counted, frame),
    )


def _ratios(path: Path, aims: Aims, added: int) -> tuple[float, float]:
    """The shares of the room that the view takes with `added` tokens more, and from which on it is compacted."""
    own = fixed, _, goals = _own_room(path, aims, added)
    by_exact, usage = _share(*_exact_room(path, aims, added)), _share(*own)
    return max(by_exact, usage) if by_exact > 1 else usage, _share(fixed, min(goals.trigger, goals.limit), goals)


def _exact_room(path: Path, aims: Aims, added: int) -> tuple[int, int, Goals]:
    """What the fixed parts and the history take with `added` tokens more, and the goals, by the exact count."""
    return path.session.overhead_tokens, path.kept + added, aims.goals


def _own_room(path: Path, aims: Aims, added: int) -> tuple[int, int, Goals]:
    """The same by the policy's own count, if that leaves room for a history."""
    if aims.policy.counter == EXACT or aims.gauge.goals.limit >= UNBOUNDED:
        return _exact_room(path, aims, added)
    return fixed_tokens(path, aims.policy), path.counted + added, aims.gauge.goals


def _share(fixed: int, tokens: int, goals: Goals) -> float:
    """The share of all the room that fixed parts and a history of `tokens` take."""
    return 1 - (goals.limit - tokens) / max(1, goals.limit + fixed)


def _tokens_at(share: float, fixed: int, goals: Goals) -> int:
    """The tokens of a history that takes this share of all the room, with the fixed parts."""
    return round(goals.limit - (1 - share) * max(1, goals.limit + fixed))


def _goal(tokens: int) -> int | None:
    return None if tokens >= UNBOUNDED else max(0, tokens)
