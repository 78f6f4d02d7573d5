"""How the things of the session log look in answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.engine.messages import JsonObject
from foldline.engine.models.budget import Budget
from foldline.engine.overflow import Verdict
from foldline.engine.policies.policy import to_json
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.jobs.queries import Job
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Path
from foldline.log.use_cases.branches import Branch
from foldline.log.use_cases.entries import Entry
from foldline.log.use_cases.pins import Pin
from foldline.log.use_cases.views import breakdown
from foldline_api.http.responses import timestamp


def session(path: Path) -> dict[str, Any]:
    """A session, without what was said in it."""
    found = path.session
    return {
        "id": found.id,
        "version": found.version,
        "model": found.model,
        "context_window": found.budget.window,
        "max_output_tokens": found.max_output_tokens,
        "system": found.system,
        "tools": found.tools,
        "policy": to_json(found.policy),
        "auto_compact": found.auto_compact,
        "message_count": path.messages,
        "multiplier": found.multiplier / 1000,
        "budget": budget(path),
        "created_at": timestamp(found.created_at),
    }


def budget(path: Path, used: int | None = None, of: Budget | None = None) -> dict[str, Any]:
    """What the view at the leaf takes of the budget; `used` and `of` where they differ from the session's own."""
    used = path.used if used is None else used
    limit = (of or path.session.budget).limit
    return {"limit": limit, "used": used, "fits": used <= limit, "breakdown": breakdown(path, used)}


def step(path: Path, done: TriggerResult) -> dict[str, Any] | None:
    """What a run of the trigger did, if it did anything: compactions made, or a job newly queued for one."""
    made, request = done.made, done.request
    if not done.is_news:
        return None
    return {
        "id": made[-1].id if made else None,
        "ids": [found.id for found in made],
        "stages_used": stages_used(made),
        "tokens_before": made[0].tokens_before if made else path.used,
        "tokens_after": made[-1].tokens_after if made else path.used,
        "job_id": request.job_id if request else None,
        **done.report,
    }


def stages_used(made: list[Compaction]) -> list[str]:
    """The stages of several compactions, each once."""
    return list(dict.fromkeys(name for found in made for name in found.stages_used))


def result(stages: list[str], before: int, after: int, report: Mapping[str, Any]) -> dict[str, Any]:
    """What one compaction or several together did to the view, with the policy's figures."""
    return {
        "compacted": bool(stages),
        "stages_used": stages,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before - after,
        **report,
    }


def job(found: Job) -> dict[str, Any]:
    """A job and how far it is."""
    ended: JsonObject = found.result
    return {
        "id": found.id,
        "session_id": found.session_id,
        "state": found.state,
        "kind": found.kind,
        "progress": found.progress,
        "attempts": found.attempts,
        "error": found.error,
        "usage": ended.get("usage"),
        "degraded": bool(ended.get("degraded")),
        "compaction_id": ended.get("compaction_id"),
        "entry_id": ended.get("entry_id"),
        "result": _result_of_job(ended),
        "superseded_by": found.superseded_by,
        "created_at": timestamp(found.created_at),
        "ended_at": None if found.ended_at is None else timestamp(found.ended_at),
    }


def _result_of_job(ended: JsonObject) -> dict[str, Any] | None:
    # Jobs from before these figures were kept have none.
    if "tokens_before" not in ended:
        return None
    return result(ended["stages_used"], ended["tokens_before"], ended["tokens_after"], ended["report"])


def entry(found: Entry) -> dict[str, Any]:
    """An entry; a message as it was appended, what no model sees as its file had it."""
    shown: dict[str, Any] = {
        "id": found.id,
        "kind": found.kind,
        "parent_id": found.parent,
        "format": found.format or None,
        "tags": found.tags,
        "created_at": timestamp(found.created_at),
    }
    if found.kind in {entry_log.MESSAGE, entry_log.OTHER}:
        shown["message"] = found.body
    if found.summary is not None:
        told = found.body if found.kind == entry_log.BRANCH_SUMMARY else found.body.get(entry_log.SUMMARY_FACTS_KEY, {})
        shown |= {"summary": found.summary, "details": told.get("details"), "from_hook": told.get("from_hook")}
    if found.kind == entry_log.BRANCH_SUMMARY:
        shown["left_entry_id"] = found.body["from"]
    return shown


def branch(found: Branch) -> dict[str, Any]:
    """A branch as it is listed."""
    return {
        "leaf_entry_id": found.leaf_entry,
        "left_entry_id": found.left_entry,
        "message_count": found.messages,
        "is_head": found.is_head,
    }


def compaction(found: Compaction) -> dict[str, Any]:
    """A compaction as it is listed."""
    return {
        "id": found.id,
        "live": found.is_live,
        "reason": found.reason,
        "stages_used": found.stages_used,
        "tokens_before": found.tokens_before,
        "tokens_after": found.tokens_after,
        **_NOT_TOLD,
        **found.summary_facts,
        **found.report,
    }


_NOT_TOLD: Final = {"first_kept_entry_id": None, "details": None, "from_hook": None}


def verdict(found: Verdict) -> dict[str, Any]:
    """What a provider's refusal says."""
    return {
        "is_overflow": found.is_overflow,
        "provider": found.provider,
        "actual_tokens": found.actual_tokens,
        "limit_tokens": found.limit_tokens,
        "retryable": found.retryable,
    }


def pin(found: Pin) -> dict[str, Any]:
    """A pin."""
    return {"id": found.id, "text": found.text, "created_at": timestamp(found.created_at)}
