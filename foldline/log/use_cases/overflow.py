"""Compacts a session after its provider refused the view: as too long, or for the reasoning in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from foldline.engine.overflow import Verdict
from foldline.engine.planning.image_limits import images_shown, omitting_images
from foldline.log.compaction import trigger
from foldline.log.compaction.compactions import Compaction, leave_reasoning_out
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.compaction.usage import MULTIPLIER_MAX
from foldline.log.errors import CannotShrink, UnknownVersion
from foldline.log.storage import entry_log, paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.preconditions import open_to_change
from foldline.log.views.reasoning import has_reasoning

# The largest target after an overflow, so that the next turns do not overflow again.
SHARE_MAX: Final = 0.7


def relieve(
    tx: Transaction,
    tenant: str,
    session_id: str,
    verdict: Verdict,
    *,
    version: int,
    parent: str | None = None,
    if_match: int | None = None,
) -> tuple[Path, TriggerResult, int]:
    """Compact a refused view: the path, the result, and the scaled tokens of the refused view.

    Nothing is changed if another view cannot help (`verdict.retryable`), or if the session is no longer at `version`.
    A refusal of reasoning leaves out all that the view has. Of a request with too many bytes or images, the older half
    of the images is left out, or, if there are none, text.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        UnknownVersion: the session has not reached `version`.
        CannotShrink: no edit would make the view smaller, or there is no reasoning to leave out.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    current = path.session.version
    if version > current:
        raise UnknownVersion(version, current)
    if not verdict.retryable or version != current:
        return path, TriggerResult(report=trigger.step_report(tx, path, path.aims())), path.used
    if verdict.is_reasoning_refused:
        if not has_reasoning(tx, path, entry_log.outline(tx, path)):
            raise CannotShrink(0, 0, verdict)
        step = TriggerResult([leave_reasoning_out(tx, path)])
        paths.save(tx, path)
        return path, step, path.used
    if verdict.is_too_large:
        made = _without_old_images(tx, path)
        if made:
            paths.save(tx, path)
            return path, TriggerResult(made), path.used
    _raise_multiplier(path, verdict.actual_tokens)
    refused, target = path.used, _target(path, verdict)
    request = SummaryRequest(is_asked=True, target_tokens=target)
    # What is hidden is summarized by an automatic job: the caller did not request a summary.
    step = trigger.compact_now(tx, path, request, stages=_stages(path), summarize=False, reason="overflow")
    if path.used >= refused:
        raise CannotShrink(refused, target, verdict)
    paths.save(tx, path)
    return path, step, refused


def _without_old_images(tx: Transaction, path: Path) -> list[Compaction]:
    outline, limits = entry_log.outline(tx, path), path.session.image_limits
    half = max(1, images_shown(outline, limits).count // 2)
    edits = omitting_images(outline, replace(limits, count=half))
    return trigger.omit_images(tx, path, outline, edits, reason="overflow")


def _raise_multiplier(path: Path, actual_tokens: int | None) -> None:
    session = path.session
    counted = path.kept + session.overhead_tokens
    if actual_tokens is not None and counted:
        reported = -(-actual_tokens * 1000 // counted)
        session.multiplier = max(session.multiplier, min(MULTIPLIER_MAX, reported))


def is_relieved(path: Path, verdict: Verdict, refused: int) -> bool:
    """Whether the view is as small already as a relief of one that took so many scaled tokens would make it."""
    is_about_tokens = not (verdict.is_too_large or verdict.is_reasoning_refused)
    return is_about_tokens and path.used <= int(SHARE_MAX * _room(path, verdict, refused))


def _target(path: Path, verdict: Verdict) -> int:
    """The target in scaled tokens: a share of the room for the refused view."""
    return int(min(path.session.policy.target, SHARE_MAX) * _room(path, verdict, path.used))


def _room(path: Path, verdict: Verdict, refused: int) -> int:
    """The smallest of provider's limit, refused view and budget, in scaled tokens."""
    limits = [refused, path.session.budget.limit]
    if verdict.input_limit_tokens is not None:
        limits.append(_in_our_tokens(verdict.input_limit_tokens, refused, verdict.actual_tokens))
    return min(limits)


def _in_our_tokens(tokens: int, used: int, actual_tokens: int | None) -> int:
    """Converts the provider's tokens to ours, by the refused view's count in both."""
    return tokens * used // actual_tokens if actual_tokens else tokens


def _stages(path: Path) -> list[str] | None:
    """The policy's stages with `truncate`, the only one sure to reach a target at once; None if they have it."""
    names = [stage.name for stage in path.session.policy.stages]
    return None if "truncate" in names else [*names, "truncate"]
