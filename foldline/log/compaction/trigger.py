"""The trigger: plans on the outline, applies the cheap edits, and asks for a summary where one is wanted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from foldline.engine.outline import Outline
from foldline.engine.planning.pipeline import Planned, plan_for
from foldline.engine.policies.report import Happened, together
from foldline.log.compaction import enqueue
from foldline.log.compaction.compactions import Compaction, add_compaction, reported
from foldline.log.compaction.enqueue import QueuedJob
from foldline.log.compaction.summary_request import AUTOMATIC, SummaryRequest, requested_aims, targeted_gauge, up_to_now
from foldline.log.compaction.usage_estimate import gauge, should_compact, trusting
from foldline.log.storage import entry_log
from foldline.log.storage.events import StageWatch, TriggerRan
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.store import Transaction

# Summaries kept from before that one request may publish; a job publishes the rest, so that no caller waits for them.
KEPT_AT_ONCE: Final = 8


@dataclass(slots=True)
class TriggerResult:
    """What a plan came to: the compactions it made, oldest first, and the summary it asked for.

    `report` has the policy's figures of all that together.
    """

    made: list[Compaction] = field(default_factory=list)
    request: QueuedJob | None = None
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def is_news(self) -> bool:
        """Whether something was done: a compaction was made, or a job newly queued for one."""
        return bool(self.made) or (self.request is not None and not self.request.is_joined)


def run_trigger(tx: Transaction, path: Path) -> TriggerResult:
    """Compact automatically if the view is over the trigger, and ask for a summary of what is pending."""
    step = _run_trigger(tx, path)
    if step.is_news:
        step.report = told(tx, path, path.aims(), step)
    return step


def told(tx: Transaction, path: Path, aims: Aims, step: TriggerResult | None = None) -> dict[str, Any]:
    """The policy's figures of a step that ends at the path as it is now; of nothing done, if there is no step."""
    if not aims.policy.report:
        return {}
    made, request = (step.made, step.request) if step else ([], None)
    reports = [compaction.report for compaction in made]
    if request is not None or not made:
        outline = entry_log.outline(tx, path)
        reports.append(reported(path, aims, Happened(outline, outline, is_asked_for=request is not None)))
    return together(reports)


def _run_trigger(tx: Transaction, path: Path) -> TriggerResult:
    step = TriggerResult()
    for _ in range(KEPT_AT_ONCE):
        outline, is_wanted = _edit_cheaply(tx, path, step)
        if not (is_wanted or path.pending_tokens) or tx.now < path.next_summary_at:
            return step
        if outline is None:
            _note_trigger(tx, path, "pending")
        answer = enqueue.request_summary(tx, path, AUTOMATIC, outline)
        if not isinstance(answer, Compaction):
            step.request = answer
            return step
        step.made.append(answer)
    step.request = enqueue.enqueue(tx, path, AUTOMATIC)
    return step


def _edit_cheaply(tx: Transaction, path: Path, step: TriggerResult) -> tuple[Outline | None, bool]:
    """Apply the cheap edits if the view is over the trigger; the outline if it did, and if a summary is wanted."""
    aims = path.aims()
    outline = gauge(tx, path, aims)
    if not (path.session.auto_compact and should_compact(path, aims)):
        # Nothing was planned on it: who is pending a summary joins whatever job there is.
        return None, False
    _note_trigger(tx, path, "threshold")
    outline = outline or entry_log.outline(tx, path)
    watch = StageWatch(tx.stopwatch)
    plan = plan_for(outline, aims.policy.stages, aims.goals, trusting(path, aims, outline, aims.gauge), tell=watch)
    _note_stages(tx, path, aims, watch, plan)
    if plan.edits:
        step.made.append(_add_planned(tx, path, aims, outline, plan, reason="trigger"))
    return plan.outline, plan.is_summary_wanted


def run_asked(
    tx: Transaction,
    path: Path,
    ask: SummaryRequest,
    *,
    stages: list[str] | None = None,
    summarize: bool | None = None,
    reason: str = "asked",
) -> TriggerResult:
    """Compact because someone asked, whatever the trigger says; `summarize=None` leaves the summary to the stages.

    `reason` is what operators see counted.
    """
    _note_trigger(tx, path, reason)
    aims = requested_aims(path, ask)
    policy = aims.policy if stages is None else aims.policy.naming(stages)
    step = TriggerResult()
    has_target = ask.target_tokens is not None
    outline = entry_log.outline(tx, path)
    gauge = targeted_gauge(aims, ask, outline)
    watch = StageWatch(tx.stopwatch)
    plan = plan_for(outline, policy.stages, aims.goals, gauge, is_asked=True, has_target=has_target, tell=watch)
    _note_stages(tx, path, aims, watch, plan)
    is_wanted = plan.is_summary_wanted if summarize is None else summarize
    if plan.edits:
        step.made.append(_add_planned(tx, path, aims, outline, plan, reason="asked", lifts_bars=is_wanted))
    if is_wanted:
        _request_asked(tx, path, up_to_now(path, plan.outline, ask), step, plan.outline)
    elif path.pending_tokens:
        # What went out of view for a target does not come back as a summary beyond it.
        _request_automatic(tx, path, step, plan.outline, replace(AUTOMATIC, target_tokens=ask.target_tokens))
    step.report = told(tx, path, aims, step)
    return step


def _note_trigger(tx: Transaction, path: Path, reason: str) -> None:
    tx.events.append(TriggerRan(reason, path.session.policy.preset))


def _note_stages(tx: Transaction, path: Path, aims: Aims, watch: StageWatch, plan: Planned) -> None:
    tx.events += watch.ran(aims.policy.preset, path.session.multiplier, is_applied=bool(plan.edits))


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


def request_rest(tx: Transaction, path: Path, ask: SummaryRequest, outline: Outline) -> None:
    """After a publish: ask for the rest of an asked range, or run the trigger."""
    if not (ask.is_asked and _request_asked(tx, path, ask, TriggerResult(), outline)):
        _run_trigger(tx, path)


def request_pending(tx: Transaction, path: Path) -> None:
    """Ask for a summary of what is pending, unless a failure holds automatic ones back."""
    if path.pending_tokens and tx.now >= path.next_summary_at:
        _request_automatic(tx, path, TriggerResult())


def _request_automatic(
    tx: Transaction, path: Path, step: TriggerResult, outline: Outline | None = None, ask: SummaryRequest = AUTOMATIC
) -> None:
    answer = enqueue.request_summary(tx, path, ask, outline)
    if isinstance(answer, Compaction):
        after = _run_trigger(tx, path)
        step.made += [answer, *after.made]
        answer = after.request
    step.request = answer


def _request_asked(
    tx: Transaction, path: Path, ask: SummaryRequest, step: TriggerResult, outline: Outline | None = None
) -> bool:
    """Whether there was anything to summarize. Kept summaries are published, and then the rest is asked for."""
    for number in range(KEPT_AT_ONCE):
        answer = enqueue.request_summary(tx, path, ask, outline if number == 0 else None)
        if isinstance(answer, Compaction):
            step.made.append(answer)
            continue
        if answer is None and number:
            after = _run_trigger(tx, path)
            step.made += after.made
            answer = after.request
        step.request = answer
        return answer is not None or number > 0
    step.request = enqueue.enqueue(tx, path, ask)
    return True
