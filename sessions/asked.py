"""Compacting because someone asked."""

from __future__ import annotations

from dataclasses import replace

from compaction.budget import check_buffer
from compaction.policy import policy_of, to_stored
from compaction.presets import PRESETS
from sessions import log, paths, planning
from sessions.appending import check_parent
from sessions.asks import Ask
from sessions.planning import Step
from sessions.preparing import Cut, cut_of
from sessions.state import Path
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
    ask = _whole(path, ask)
    before = path.used
    step = planning.run_asked(tx, path, ask, stages=stages, summarize=summarize)
    paths.save(tx, path)
    return path, step, before


def cut(tx: Transaction, tenant: str, session_id: str, ask: Ask, *, context_window: int | None = None) -> Cut:
    """Where a summary that is asked for in this way would cut now, as if the session had such a window.

    Raises:
        NotFound: no such session.
        InvalidPolicy: the policy or the window cannot work.
    """
    path = paths.open_head(tx, tenant, session_id)
    path.session.context_window = context_window or path.session.context_window
    return cut_of(tx, path, log.outline(tx, path), _whole(path, ask))


def _whole(path: Path, ask: Ask) -> Ask:
    """The ask with its policy as a whole: the session's own may change before a worker gets to it."""
    if ask.policy is None:
        return ask
    policy = policy_of(ask.policy, PRESETS, path.session.policy)
    check_buffer(ask.policy, path.session.frame.budget(policy).limit)
    return replace(ask, policy=to_stored(policy, PRESETS))
