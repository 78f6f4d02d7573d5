"""Trigger runs that led to nothing: their reasons, and how long appends do not repeat one."""

from __future__ import annotations

from typing import Final

from foldline.engine.outline import Outline
from foldline.engine.planning.cut_points import Held
from foldline.log.compaction import ranges
from foldline.log.compaction.summary_request import AUTOMATIC, SummaryRequest
from foldline.log.storage import entry_log
from foldline.log.storage.rows import NotCompacted, Path
from foldline.log.storage.store import Transaction

# Beside `Held` and `ranges.NO_ROOM`: the session does not compact by itself, a failed summary holds back the next, the
# tenant has as many jobs as it may, and edits would strip the reasoning of an open tool loop.
SWITCHED_OFF: Final = "switched_off"
HELD_BACK: Final = "held_back"
TOO_MANY_JOBS: Final = "too_many_jobs"
TOOL_LOOP: Final = "tool_loop"
# The share of the limit that the history may grow or shrink by before an append plans again.
CHANGE_SHARE: Final = 0.01
# The same while a failed summary holds back the next: then only new edits could make a difference.
HELD_BACK_SHARE: Final = 0.05


def is_as_before(path: Path, limit: int, now: int) -> bool:
    """Whether the last run led to nothing, and too little has changed since that another result is worth a plan.

    Of what could change the result, only messages are let wait: by at most `CHANGE_SHARE` or `HELD_BACK_SHARE` of
    `limit`, the unscaled tokens that a history may take. Changes of the session, pins and branches run the trigger
    themselves.
    """
    run = path.not_compacted
    if run is None or run.edits_at != path.edits_at or _has_changed(run, path.counted, limit):
        return False
    is_same_batch = run.open_unit in {0, path.open_unit}
    is_held = run.until is None or now < run.until == path.next_summary_at
    return is_same_batch and is_held and (run.reason != TOOL_LOOP or path.is_in_tool_loop)


def _has_changed(run: NotCompacted, tokens: int, limit: int) -> bool:
    share = HELD_BACK_SHARE if run.reason in {HELD_BACK, TOO_MANY_JOBS} else CHANGE_SHARE
    return abs(tokens - run.tokens) > limit * share


def note(
    tx: Transaction, path: Path, outline: Outline | None, *, is_wanted: bool, is_in_loop: bool = False
) -> NotCompacted:
    """Note on the path that a run which planned on `outline` led to nothing. `is_wanted`: it wanted a summary."""
    is_held_back = is_wanted and tx.now < path.next_summary_at
    if is_held_back:
        reason = HELD_BACK if path.failures else TOO_MANY_JOBS
    elif is_in_loop:
        reason = TOOL_LOOP
    elif not (path.session.auto_compact or is_wanted):
        reason = SWITCHED_OFF
    else:
        reason = _reason(tx, path, outline, AUTOMATIC, is_wanted=is_wanted)
    path.not_compacted = _run(path, reason, path.next_summary_at if is_held_back else None)
    return path.not_compacted


def note_asked(
    tx: Transaction, path: Path, outline: Outline, request: SummaryRequest, *, is_wanted: bool
) -> NotCompacted:
    """Why a caller's request led to nothing. It is not noted on the path: the trigger may find something."""
    return _run(path, _reason(tx, path, outline, request, is_wanted=is_wanted))


def _reason(tx: Transaction, path: Path, outline: Outline | None, request: SummaryRequest, *, is_wanted: bool) -> str:
    if not is_wanted:
        return Held.TOO_LITTLE
    return ranges.why_none(tx, path, entry_log.whole_outline(tx, path, outline), request)


def _run(path: Path, reason: str, until: int | None = None) -> NotCompacted:
    return NotCompacted(str(reason), path.counted, path.edits_at, path.open_unit, until)
