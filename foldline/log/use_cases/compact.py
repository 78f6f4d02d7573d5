"""Compacting because someone asked."""

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
from foldline.log.use_cases.append import check_parent


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
    """Compact now: the path, what was done, and the tokens the view took before.

    `summarize` asks for a summary (True), for none (False), or leaves it to the stages (None).

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the head is not where the caller thinks it is.
        InvalidPolicy: the request names a stage or policy that does not exist or cannot work.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    if parent is not None:
        check_parent(tx, path, parent)
    request = _whole(path, request)
    before = path.used
    step = trigger.compact_now(tx, path, request, stages=stages, summarize=summarize)
    paths.save(tx, path)
    return path, step, before


def cut(
    tx: Transaction, tenant: str, session_id: str, request: SummaryRequest, *, context_window: int | None = None
) -> PlannedCut:
    """Where a summary that is asked for in this way would cut now, as if the session had such a window.

    Raises:
        NotFound: no such session.
        InvalidPolicy: the policy or the window cannot work.
    """
    path = paths.open_head(tx, tenant, session_id)
    path.session.context_window = context_window or path.session.context_window
    return cut_of(tx, path, entry_log.outline(tx, path), _whole(path, request))


def _whole(path: Path, request: SummaryRequest) -> SummaryRequest:
    """The request with its policy as a whole: the session's own may change before a worker gets to it."""
    if request.policy is None:
        return request
    policy = policy_of(request.policy, PRESETS, path.session.policy)
    check_buffer(request.policy, path.session.frame.budget(policy).limit)
    return replace(request, policy=to_stored(policy, PRESETS))
