"""The trigger: plans on the outline, applies the cheap edits, and asks for a summary where one is wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compaction.pipeline import make_plan
from sessions import log, requests
from sessions.compacting import Compaction, add_compaction
from sessions.paths import Path
from sessions.requests import AUTOMATIC, Ask, Request, asked_policy
from sessions.store import Transaction


@dataclass(frozen=True, slots=True)
class Step:
    """What a run of the trigger did: the cheap edits it applied, and the summary it asked for."""

    compaction: Compaction | None = None
    request: Request | None = None

    @property
    def made(self) -> list[Compaction]:
        """The compactions it added: the cheap edits, then a summary that was kept from before."""
        published = self.request.published if self.request else None
        return [found for found in (self.compaction, published) if found is not None]


def run_trigger(tx: Transaction, path: Path, reason: str = "trigger") -> Step:
    """Compact automatically if the view is over the trigger, and ask for a summary of what is owed."""
    session = path.session
    goals = path.goals()
    is_over = session.auto_compact and path.kept > min(goals.trigger, goals.limit)
    if not is_over and not path.owed_tokens:
        return Step()
    outline = log.outline(tx, path)
    compaction = None
    is_wanted = False
    if is_over:
        plan = make_plan(outline, session.policy.stages, goals)
        is_wanted = plan.is_summary_wanted
        if plan.edits:
            outline = outline.edited(plan.edits)
            compaction = add_compaction(tx, path, outline, plan.edits, reason=reason, stages_used=plan.stages_used)
    request = None
    if (is_wanted or path.owed_tokens) and tx.now >= path.next_summary_at:
        request = _request(tx, path, AUTOMATIC)
    return Step(compaction, request)


def run_asked(
    tx: Transaction, path: Path, ask: Ask, *, stages: list[str] | None = None, summarize: bool | None = None
) -> Step:
    """Compact because someone asked, whatever the trigger says; `summarize=None` leaves the summary to the stages."""
    policy, goals = asked_policy(path, ask)
    if stages is not None:
        policy = policy.naming(stages)
    outline = log.outline(tx, path)
    plan = make_plan(outline, policy.stages, goals, is_asked=True, has_target=ask.target_tokens is not None)
    compaction = None
    if plan.edits:
        outline = outline.edited(plan.edits)
        compaction = add_compaction(
            tx, path, outline, plan.edits, reason="asked", stages_used=plan.stages_used, is_asked=True
        )
    request = None
    if plan.is_summary_wanted if summarize is None else summarize:
        request = _request(tx, path, ask)
    elif path.owed_tokens:
        request = _request(tx, path, AUTOMATIC)
    return Step(compaction, request)


def request_rest(tx: Transaction, path: Path, ask: Ask) -> Request | None:
    """After a publish: ask for the rest of an asked range, or run the trigger."""
    if ask.is_asked:
        request = _request(tx, path, ask)
        if request is not None:
            return request
    return run_trigger(tx, path).request


def request_owed(tx: Transaction, path: Path) -> Request | None:
    """Ask for a summary of what is owed, unless a failure holds automatic ones back."""
    if not path.owed_tokens or tx.now < path.next_summary_at:
        return None
    return _request(tx, path, AUTOMATIC)


def _request(tx: Transaction, path: Path, ask: Ask) -> Request | None:
    """A request, or what follows once kept summaries have been published instead of it."""
    request = requests.request(tx, path, ask)
    if request is None or request.published is None:
        return request
    rest = request_rest(tx, path, ask)
    return request if rest is None else replace(rest, published=request.published)
