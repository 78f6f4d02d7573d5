"""Compacts a session at a caller's request, and shows the cut that a summary would make."""

from __future__ import annotations

from dataclasses import dataclass, replace

from foldline.engine.models.given_fields import check_given
from foldline.engine.policies.policy import policy_of, to_stored
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction import enqueue, trigger
from foldline.log.compaction.planned_cut import PlannedCut, cut_of
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.jobs import queries
from foldline.log.jobs.queries import Job
from foldline.log.storage import entry_log, paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.preconditions import check_summarizers, open_to_change


@dataclass(frozen=True, slots=True)
class CompactResult:
    """What a request to compact did at once, and the job that makes the summary it requested, if any.

    `tokens_before` are the scaled tokens of the view before; `path` has those after. `planned_cut` is the cut that the
    job would make; only a rehearsal has it.
    """

    path: Path
    step: TriggerResult
    tokens_before: int
    job: Job | None
    planned_cut: PlannedCut | None = None

    @property
    def effect_id(self) -> str | None:
        """The id of the last compaction that was made, else of the job; None if nothing was to be done."""
        made = [compaction.id for compaction in self.step.made]
        return made[-1] if made else None if self.job is None else self.job.id

    @property
    def is_joined(self) -> bool:
        """Whether the job existed before the request."""
        return self.step.request is not None and self.step.request.is_joined


def compact(
    tx: Transaction,
    tenant: str,
    session_id: str,
    request: SummaryRequest,
    *,
    stages: list[str] | None = None,
    summarize: bool | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> CompactResult:
    """Compact now.

    `summarize` requests a summary (True) or none (False); None leaves that to the stages.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        InvalidPolicy: the request names a stage or policy that does not exist or cannot work.
        TenantLimitReached: the tenant has as many jobs as it may.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    request = _asked_now(tx, path, _with_full_policy(tx, path, request))
    before, leaf_seq = path.used, path.leaf_seq
    step = trigger.compact_now(tx, path, request, stages=stages, summarize=summarize)
    enqueue.check_new(tx, tenant, step.request)
    # Where nothing was edited, the version stays: a model that works on the view has seen the newest one.
    paths.save_edited(tx, path, leaf_seq)
    job = None if step.request is None else queries.job(tx, tenant, step.request.job_id)
    return CompactResult(path, step, before, job)


def rehearse(
    tx: Transaction,
    tenant: str,
    session_id: str,
    request: SummaryRequest,
    *,
    stages: list[str] | None = None,
    summarize: bool | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> CompactResult:
    """What `compact` would do, with the cut that its job would make; for a transaction that rolls back.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        InvalidPolicy: the request names a stage or policy that does not exist or cannot work.
        TenantLimitReached: the tenant has as many jobs as it may.
    """
    before = cut(tx, tenant, session_id, request)
    done = compact(
        tx, tenant, session_id, request, stages=stages, summarize=summarize, parent=parent, if_match=if_match
    )
    if done.job is None:
        return done
    after = cut(tx, tenant, session_id, request)
    return replace(done, planned_cut=replace(after, context_tokens=before.context_tokens))


def cut(
    tx: Transaction, tenant: str, session_id: str, request: SummaryRequest, *, context_window: int | None = None
) -> PlannedCut:
    """The cut that a summary request would make now; `context_window` replaces the session's.

    Raises:
        NotFound: no such session.
        InvalidPolicy: the policy or the window cannot work.
    """
    path = paths.open_head(tx, tenant, session_id)
    path.session.context_window = context_window or path.session.context_window
    return cut_of(tx, path, entry_log.outline(tx, path), _asked_now(tx, path, _with_full_policy(tx, path, request)))


def _asked_now(tx: Transaction, path: Path, request: SummaryRequest) -> SummaryRequest:
    """The request with the size of the history at the newest message, so that a repeated request changes nothing."""
    if request.target_tokens is not None:
        return request
    return replace(request, asked_at=max(path.kept, entry_log.history_after(tx, path, path.last_message_seq)))


def _with_full_policy(tx: Transaction, path: Path, request: SummaryRequest) -> SummaryRequest:
    """The request with a complete policy: the session's own may change before a worker claims the job."""
    if request.policy is None:
        return request
    policy = policy_of(request.policy, PRESETS, path.session.policy)
    check_summarizers(tx, policy)
    check_given(policy, request.policy, path.session.frame)
    return replace(request, policy=to_stored(policy, PRESETS))
