"""Compacting because someone asked."""

from __future__ import annotations

from dataclasses import replace

from compaction.budget import check_buffer
from compaction.policy import policy_of, to_stored
from compaction.presets import PRESETS
from sessions import paths, planning
from sessions.appending import check_parent
from sessions.asks import Ask
from sessions.paths import Path
from sessions.planning import Step
from sessions.store import Transaction


def compact(
    tx: Transaction,
    tenant: str,
    session_id: str,
    ask: Ask,
    *,
    stages: list[str] | None = None,
    summarize: bool | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> tuple[Path, Step, int]:
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
    if ask.policy is not None:
        policy = policy_of(ask.policy, PRESETS, path.session.policy)
        check_buffer(ask.policy, path.session.frame.budget(policy).limit)
        # Whole: the session's own may change before a worker gets to it.
        ask = replace(ask, policy=to_stored(policy, PRESETS))
    before = path.used
    step = planning.run_asked(tx, path, ask, stages=stages, summarize=summarize)
    paths.save(tx, path)
    return path, step, before
