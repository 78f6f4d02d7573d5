"""The trigger: plans on the outline, applies the cheap edits, and requests a summary where the plan wants one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from foldline.engine.edits import OMIT_IMAGES, Edit
from foldline.engine.images.in_messages import NO_IMAGES
from foldline.engine.models.budget import NamedTarget
from foldline.engine.outline import Outline
from foldline.engine.planning.image_limits import KEPT_SHARE, images_shown, omitting_images
from foldline.engine.planning.interim import are_too_large
from foldline.engine.planning.pipeline import Planned, plan_for
from foldline.engine.planning.tool_loops import strips_open_loop
from foldline.engine.policies.report import Happened, together
from foldline.log.compaction import enqueue
from foldline.log.compaction.compactions import Compaction, add_compaction, reported
from foldline.log.compaction.enqueue import QueuedJob
from foldline.log.compaction.interims import with_interims
from foldline.log.compaction.not_compacted import is_as_before, note, note_asked
from foldline.log.compaction.summary_request import (
    AUTOMATIC,
    SummaryRequest,
    limited_to_due,
    requested_aims,
    targeted_gauge,
)
from foldline.log.compaction.usage_estimate import ensure_estimate, fits, should_compact, with_reported_usage
from foldline.log.events import StageWatch, TriggerRan
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Aims, NotCompacted, Path
from foldline.log.storage.store import Transaction

# In `stages_used` of a compaction that cuts outputs when they arrive.
LIMIT_OUTPUTS: Final = "limit_outputs"
# Kept summaries that one request may publish; a job publishes the rest, so that no caller waits for them.
KEPT_AT_ONCE: Final = 8
# A plan over fewer messages costs about as much as a look for jobs.
LONG_PATH_MESSAGES: Final = 256


@dataclass(slots=True)
class TriggerResult:
    """The outcome of a trigger run: the compactions made, oldest first, and the job of the summary request, if any.

    `report` has the figures that the policy's `report` names, over all of them. `not_compacted` says why there is
    neither a compaction nor a job, although the view is over the trigger or hidden messages wait for a summary.
    `target` is the target of a request that names one.
    """

    made: list[Compaction] = field(default_factory=list)
    request: QueuedJob | None = None
    report: dict[str, Any] = field(default_factory=dict)
    not_compacted: NotCompacted | None = None
    target: NamedTarget | None = None

    @property
    def is_news(self) -> bool:
        """Whether a compaction was made or a new job queued."""
        return bool(self.made) or (self.request is not None and not self.request.is_joined)


def run_trigger(tx: Transaction, path: Path, *, repeats: bool = True, made: Sequence[Compaction] = ()) -> TriggerResult:
    """Compact if the view is over the policy's trigger, and request a summary of what is pending.

    Without `repeats`, a long view that fits is left alone while the last run led to nothing and too little has changed
    since (`is_as_before`). `made` are compactions that belong to the same result.
    """
    step = _run_trigger(tx, path, repeats=repeats)
    step.made[:0] = made
    if step.is_news:
        step.report = step_report(tx, path, path.aims(), step)
    return step


def step_report(tx: Transaction, path: Path, aims: Aims, step: TriggerResult | None = None) -> dict[str, Any]:
    """The figures that the policy's `report` names for a trigger run; without a `step`, for no compaction at all.

    The path is as the run left it.
    """
    if not aims.policy.report:
        return {}
    made, request = (step.made, step.request) if step else ([], None)
    reports = [compaction.report for compaction in made]
    if request is not None or not made:
        outline = entry_log.outline(tx, path)
        reports.append(reported(path, aims, Happened(outline, outline)))
    return together(reports)


def _run_trigger(tx: Transaction, path: Path, *, repeats: bool = True) -> TriggerResult:
    step = TriggerResult()
    if path.session.auto_compact:
        _fit_images(tx, path, step)
    if not repeats and _is_as_before(tx, path):
        step.not_compacted = path.not_compacted
        return step
    path.not_compacted = None
    if path.session.policy.awaits_change and path.session.auto_compact and should_compact(path, path.aims()):
        _publish_waiting(tx, path, step)
    step.request = _awaited(tx, path)
    if step.request is not None:
        return step
    for _ in range(KEPT_AT_ONCE):
        tried = _apply_cheap_edits(tx, path, step)
        answer = _request_wanted(tx, path, tried)
        if isinstance(answer, Compaction):
            step.made.append(answer)
            continue
        step.request = answer
        if not step.is_news and answer is None and (tried.is_over or path.pending_tokens):
            is_wanted = tried.is_summary_wanted or bool(path.pending_tokens)
            step.not_compacted = note(tx, path, tried.outline, is_wanted=is_wanted, is_in_loop=tried.waits)
        return step
    step.request = enqueue.enqueue(tx, path, AUTOMATIC)
    return step


def _publish_waiting(tx: Transaction, path: Path, step: TriggerResult) -> None:
    """Publish the summary that waits for a change of the view: a plan is about to make one."""
    compaction = enqueue.publish_waiting(tx, path)
    if compaction is not None:
        step.made.append(compaction)


def _is_as_before(tx: Transaction, path: Path) -> bool:
    if path.not_compacted is None or path.messages < LONG_PATH_MESSAGES:
        return False
    aims = path.aims()
    has_work = bool(path.pending_tokens) or should_compact(path, aims)
    return has_work and fits(path, aims) and is_as_before(path, aims.goals.limit, tx.now)


class _Tried(NamedTuple):
    """What a plan led to, beside the compactions: the outline after it, None if no plan was made, and what remains.

    `waits`: its edits wait for the end of a tool loop.
    """

    outline: Outline | None
    is_over: bool
    is_summary_wanted: bool = False
    waits: bool = False


def _request_wanted(tx: Transaction, path: Path, tried: _Tried) -> QueuedJob | Compaction | None:
    """The answer to the summary request that a plan and what is pending lead to; None if there is none for now."""
    if not (tried.is_summary_wanted or path.pending_tokens) or tx.now < path.next_summary_at:
        return None
    if tried.outline is None:
        _note_trigger(tx, path, "pending")
    return enqueue.request_summary(tx, path, AUTOMATIC, tried.outline)


def _fit_images(tx: Transaction, path: Path, step: TriggerResult) -> None:
    """Leave the oldest images out if the view has more, or larger ones, than the provider takes or the policy wants."""
    if path.images == NO_IMAGES:
        return
    policy = path.session.policy
    limits = path.session.image_limits.within(policy.max_images, policy.max_image_bytes)
    if path.images is not None and limits.takes(path.images):
        return
    outline = entry_log.outline(tx, path)
    path.images = images_shown(outline, limits)
    if not limits.takes(path.images):
        _note_trigger(tx, path, "images")
        step.made += omit_images(tx, path, outline, omitting_images(outline, limits, KEPT_SHARE))


def limit_outputs(tx: Transaction, path: Path, edits: tuple[Edit, ...]) -> list[Compaction]:
    """Apply these edits that cut new outputs to excerpts: the compaction, if there are any."""
    if not edits:
        return []
    outline = entry_log.outline_in_view(tx, path)
    plan = Planned(outline.edited(edits), edits, (LIMIT_OUTPUTS,))
    return [_add_planned(tx, path, path.aims(), outline, plan, reason="outputs")]


def omit_images(
    tx: Transaction, path: Path, outline: Outline, edits: tuple[Edit, ...], *, reason: str = "images"
) -> list[Compaction]:
    """Apply these edits that leave images out: the compaction, if there are any."""
    if not edits:
        return []
    # `stages_used` names the edit: what leaves images out is no stage that a policy names.
    plan = Planned(outline.edited(edits), edits, (OMIT_IMAGES,))
    return [_add_planned(tx, path, path.aims(), outline, plan, reason=reason)]


def _awaited(tx: Transaction, path: Path) -> QueuedJob | None:
    """The job that a long view which fits waits for. Its publish runs the trigger, so no append plans until then."""
    if not path.session.auto_compact or path.messages < LONG_PATH_MESSAGES:
        return None
    aims = path.aims()
    is_awaited = fits(path, aims) and should_compact(path, aims)
    return enqueue.job_under_way(tx, path, AUTOMATIC) if is_awaited else None


def _apply_cheap_edits(tx: Transaction, path: Path, step: TriggerResult) -> _Tried:
    """Apply the cheap edits if the view is over the trigger.

    While the view fits, edits wait for the end of a tool loop whose reasoning they would strip.
    """
    aims = path.aims()
    outline = ensure_estimate(tx, path, aims)
    is_over = should_compact(path, aims)
    if not (path.session.auto_compact and is_over):
        # Without a plan, a pending range joins any job the branch has.
        return _Tried(None, is_over)
    _note_trigger(tx, path, "threshold")
    outline = outline or entry_log.outline_in_view(tx, path)
    watch = StageWatch(tx.stopwatch)
    plan = plan_for(
        outline, aims.policy.stages, aims.goals, with_reported_usage(path, aims, outline, aims.gauge), on_stage=watch
    )
    _note_stages(tx, path, aims, watch, plan)
    if fits(path, aims) and strips_open_loop(outline, plan.edits, path.edits_at):
        return _Tried(outline, is_over, plan.is_summary_wanted, waits=True)
    if plan.edits or are_too_large(plan.outline, aims.goals):
        plan = _with_interims(tx, path, aims, outline, plan)
        step.made.append(_add_planned(tx, path, aims, outline, plan, reason="trigger"))
    return _Tried(plan.outline, is_over, plan.is_summary_wanted)


def compact_now(
    tx: Transaction,
    path: Path,
    request: SummaryRequest,
    *,
    stages: list[str] | None = None,
    summarize: bool | None = None,
    reason: str = "asked",
) -> TriggerResult:
    """Compact at a caller's request, whether or not the view is over the trigger.

    `stages` replaces the policy's stages. `summarize` requests a summary (True) or none (False); None leaves that to
    the stages. `reason` is that of the compaction, and the label in the metrics.
    """
    _note_trigger(tx, path, reason)
    path.not_compacted = None
    aims = requested_aims(path, request)
    policy = (aims.policy if stages is None else aims.policy.naming(stages)).on(reason)
    step = TriggerResult()
    _fit_images(tx, path, step)
    if policy.awaits_change:
        _publish_waiting(tx, path, step)
    has_target = request.target_tokens is not None
    outline = entry_log.outline(tx, path)
    if request.target_tokens is not None:
        step.target = NamedTarget(request.target_tokens, path.session.used(outline.least_tokens))
    gauge = targeted_gauge(aims, request, outline)
    watch = StageWatch(tx.stopwatch)
    plan = plan_for(outline, policy.stages, aims.goals, gauge, is_asked=True, has_target=has_target, on_stage=watch)
    _note_stages(tx, path, aims, watch, plan)
    is_wanted = plan.is_summary_wanted if summarize is None else summarize
    if plan.edits:
        plan = _with_interims(tx, path, aims, outline, plan, has_target=has_target)
        step.made.append(_add_planned(tx, path, aims, outline, plan, reason=reason, lifts_bars=is_wanted))
    if is_wanted:
        _request_explicit(tx, path, limited_to_due(path, plan.outline, request), step, plan.outline)
    elif path.pending_tokens:
        # The summary of what was hidden to reach a target must not take the view beyond it again.
        _request_automatic(tx, path, step, plan.outline, replace(AUTOMATIC, target_tokens=request.target_tokens))
    if not step.made and step.request is None:
        step.not_compacted = note_asked(tx, path, plan.outline, request, is_wanted=is_wanted)
    step.report = step_report(tx, path, aims, step)
    return step


def _note_trigger(tx: Transaction, path: Path, reason: str) -> None:
    tx.events.append(TriggerRan(reason, path.session.policy.preset))


def _note_stages(tx: Transaction, path: Path, aims: Aims, watch: StageWatch, plan: Planned) -> None:
    tx.events += watch.ran(aims.policy.preset, path.session.multiplier, is_applied=bool(plan.edits))


def _with_interims(
    tx: Transaction, path: Path, aims: Aims, before: Outline, plan: Planned, *, has_target: bool = False
) -> Planned:
    """The plan with interim summaries of what it takes out of view."""
    most = aims.goals.target if has_target else None
    after, interims = with_interims(tx, path, plan.outline, aims, before=before.live, most=most)
    return replace(plan, outline=after, edits=(*plan.edits, *interims))


def _add_planned(
    tx: Transaction, path: Path, aims: Aims, before: Outline, plan: Planned, *, reason: str, lifts_bars: bool = False
) -> Compaction:
    report = reported(path, aims, Happened(before, plan.outline, plan.edits))
    return add_compaction(
        tx,
        path,
        plan.outline,
        plan.edits,
        reason=reason,
        stages_used=plan.stages_used,
        report=report,
        lifts_bars=lifts_bars,
    )


def request_rest(tx: Transaction, path: Path, request: SummaryRequest, outline: Outline) -> None:
    """After a publish: request the rest of the range that a caller asked for, or else run the trigger.

    Where a model refused that range, its oldest half is all there is.
    """
    has_rest = request.is_asked and request.half_tokens is None
    if not (has_rest and _request_explicit(tx, path, request, TriggerResult(), outline)):
        _run_trigger(tx, path)


def request_pending(tx: Transaction, path: Path) -> None:
    """Request a summary of what is pending, unless a failure holds automatic jobs back."""
    if path.pending_tokens and tx.now >= path.next_summary_at:
        _request_automatic(tx, path, TriggerResult())


def _request_automatic(
    tx: Transaction,
    path: Path,
    step: TriggerResult,
    outline: Outline | None = None,
    request: SummaryRequest = AUTOMATIC,
) -> None:
    answer = enqueue.request_summary(tx, path, request, outline)
    if isinstance(answer, Compaction):
        after = _run_trigger(tx, path)
        step.made += [answer, *after.made]
        answer = after.request
    step.request = answer


def _request_explicit(
    tx: Transaction, path: Path, request: SummaryRequest, step: TriggerResult, outline: Outline | None = None
) -> bool:
    """Publish kept summaries and request the rest; False if there was nothing to summarize."""
    for number in range(KEPT_AT_ONCE):
        answer = enqueue.request_summary(tx, path, request, outline if number == 0 else None)
        if isinstance(answer, Compaction):
            step.made.append(answer)
            continue
        if answer is None and number:
            after = _run_trigger(tx, path)
            step.made += after.made
            answer = after.request
        step.request = answer
        return answer is not None or number > 0
    step.request = enqueue.enqueue(tx, path, request)
    return True
