"""Compacts a session at a caller's request, and shows the cut that a summary would make."""

from __future__ import annotations

from dataclasses import replace

from foldline.engine.models.budget import check_buffer
from foldline.engine.policies.policy import policy_of, to_stored
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction import trigger
from foldline.log.compaction.planned_cut import PlannedCut, cut_of
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.storage import entry_log, paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.preconditions import open_to_change


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
) -> tuple[Path, TriggerResult, int]:
    """Compact now: the path, the result, and the scaled tokens of the view before.

    `summarize` requests a summary (True) or none (False); None leaves that to the stages.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        InvalidPolicy: the request names a stage or policy that does not exist or cannot work.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    request = _with_full_policy(path, request)
    before = path.used
    step = trigger.compact_now(tx, path, request, stages=stages, summarize=summarize)
    paths.save(tx, path)
    return path, step, before


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
    return cut_of(tx, path, entry_log.outline(tx, path), _with_full_policy(path, request))


def _with_full_policy(path: Path, request: SummaryRequest) -> SummaryRequest:
    """The request with a complete policy: the session's own may change before a worker claims the job."""
    if request.policy is None:
        return request
    policy = policy_of(request.policy, PRESETS, path.session.policy)
    check_buffer(request.policy, path.session.frame.budget(policy).limit)
    return replace(request, policy=to_stored(policy, PRESETS))
