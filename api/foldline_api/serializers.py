"""Turns what the session log and the engine return into the JSON of answers; `schemas.answers` has its shapes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from foldline.engine.messages import JsonObject
from foldline.engine.models.attachments import Placement
from foldline.engine.models.budget import Budget, NamedTarget
from foldline.engine.policies.policy import FIGURES, to_json
from foldline.engine.policies.report import together
from foldline.engine.recall.quoting import Attribution, Neighbour, Passage
from foldline.engine.tokens.breakdown import Breakdown
from foldline.log.access.api_keys import ApiKey, KeyScope
from foldline.log.access.audit import AuditRecord
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.jobs.queries import Job
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Path
from foldline.log.use_cases.branches import Branch
from foldline.log.use_cases.entries import Entry
from foldline.log.use_cases.finding.ledger import LedgerItem
from foldline.log.use_cases.finding.recall import Recalled
from foldline.log.use_cases.history import MadeSummary
from foldline.log.use_cases.pins import Pin
from foldline.log.use_cases.views import View

NO_SUMMARY_FACTS: Final[Mapping[str, Any]] = {"first_kept_entry_id": None, "details": None, "from_hook": None}


def timestamp(milliseconds: int) -> str:
    """A time as RFC 3339, UTC."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def session_json(path: Path) -> dict[str, Any]:
    """A session without its entries."""
    session = path.session
    return {
        "id": session.id,
        "version": session.version,
        "model": session.model,
        "context_window": session.budget.window,
        "max_output_tokens": session.max_output_tokens,
        "system": session.system,
        "tools": session.tools,
        "policy": to_json(session.policy),
        "auto_compact": session.auto_compact,
        "retention_days": session.retention_days,
        "message_count": path.messages,
        "multiplier": session.multiplier / 1000,
        "budget": budget_json(path),
        "created_at": timestamp(session.created_at),
    }


def budget_json(path: Path, used: int | None = None, budget: Budget | None = None) -> dict[str, Any]:
    """The budget and how much of it the head's view takes; `used` and `budget` replace the session's own."""
    used = path.used if used is None else used
    limit, images = (budget or path.session.budget).limit, path.images
    has_room = images is None or path.session.image_limits.takes(images)
    return {
        "limit": limit,
        "used": used,
        "fits": used <= limit and has_room,
        "breakdown": path.breakdown(used),
        "images": images and images.count,
        "image_bytes": images and images.bytes,
    }


def view_fields(found: View, lossy: int) -> dict[str, Any]:
    """A view without its messages, which the format wrote with `lossy` losses."""
    session, reasoning = found.path.session, found.shown.reasoning
    return {
        "system": session.system,
        "budget": budget_json(found.path, found.used, found.budget),
        "version": session.version,
        "lossy": lossy + found.shown.lost,
        "open_calls": found.open_calls,
        "reasoning": {"shown": reasoning.parts, "left_out": reasoning.parts_left_out},
        "request_headers": dict(found.shown.request_headers),
    }


def breakdown_json(call: Breakdown) -> dict[str, Any]:
    """The budget of a call without a session, and how much of it the call takes."""
    return {
        "limit": call.limit,
        "used": call.used,
        "fits": call.fits,
        "breakdown": dict(call.breakdown),
    }


def file_json(file: Placement) -> dict[str, Any]:
    """How much of a file to send."""
    return {"path": file.path, "action": file.action, "max_chars": file.max_chars, "tokens": file.tokens}


def trigger_json(path: Path, step: TriggerResult) -> dict[str, Any]:
    """What a trigger run did, and why it did nothing if it should have."""
    return {"compaction": _step_json(path, step), "not_compacted": not_compacted_json(step)}


def not_compacted_json(step: TriggerResult) -> dict[str, Any] | None:
    """Why there is neither a compaction nor a job; None if there is one, or if nothing had to be done."""
    run = step.not_compacted
    return run and {"reason": run.reason, "until": None if run.until is None else timestamp(run.until)}


def _step_json(path: Path, step: TriggerResult) -> dict[str, Any] | None:
    """The compactions that a trigger run made and the job that it queued; None if it did neither."""
    if not step.is_news:
        return None
    made, request = step.made, step.request
    return {
        "id": made[-1].id if made else None,
        "ids": [compaction.id for compaction in made],
        "stages_used": _stages_used(made),
        "tokens_before": made[0].tokens_before if made else path.used,
        "tokens_after": made[-1].tokens_after if made else path.used,
        "job_id": request.job_id if request else None,
        **step.report,
    }


def result_json(step: TriggerResult, tokens_before: int, tokens_after: int) -> dict[str, Any]:
    """What the compactions of one request together did to the view."""
    return _result_json(_stages_used(step.made), tokens_before, tokens_after, step.report)


def result_json_with(result: Mapping[str, Any], compaction: Compaction) -> dict[str, Any]:
    """A result, by its JSON, and one more compaction as one result."""
    stages = dict.fromkeys((*result["stages_used"], *compaction.stages_used))
    report = together([{name: result[name] for name in FIGURES if name in result}, compaction.report])
    return _result_json(list(stages), result["tokens_before"], compaction.tokens_after, report)


def target_json(target: NamedTarget | None, tokens_after: int) -> dict[str, Any] | None:
    """The target that a request named, and whether the view reaches it."""
    return None if target is None else target.answered(tokens_after)


def target_json_after(target: Mapping[str, Any] | None, compaction: Compaction) -> dict[str, Any] | None:
    """A target, by its JSON, and whether the view reaches it after one more compaction."""
    found = None if target is None else NamedTarget(target["tokens"], target["least_tokens"])
    return target_json(found, compaction.tokens_after)


def _stages_used(made: list[Compaction]) -> list[str]:
    return list(dict.fromkeys(name for compaction in made for name in compaction.stages_used))


def _result_json(stages: list[str], before: int, after: int, report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "compacted": bool(stages),
        "stages_used": stages,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before - after,
        **report,
    }


def job_json(job: Job) -> dict[str, Any]:
    """A job and its progress."""
    return {
        "id": job.id,
        "session_id": job.session_id,
        "state": job.state,
        "kind": job.kind,
        "progress": job.progress,
        "attempts": job.attempts,
        "error": job.error,
        "waits_for": job.waits_for,
        "usage": job.result.get("usage"),
        "degraded": bool(job.result.get("degraded")),
        "summarizer": job.result.get("summarizer"),
        "declined": job.result.get("declined"),
        "compaction_id": job.result.get("compaction_id"),
        "entry_id": job.result.get("entry_id"),
        "result": _result_of_job(job.result),
        "superseded_by": job.superseded_by,
        "created_at": timestamp(job.created_at),
        "ended_at": None if job.ended_at is None else timestamp(job.ended_at),
    }


def _result_of_job(result: JsonObject) -> dict[str, Any] | None:
    # Jobs that ended before these figures existed have none.
    if "tokens_before" not in result:
        return None
    return _result_json(result["stages_used"], result["tokens_before"], result["tokens_after"], result["report"])


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry with the fields of its kind."""
    shown: dict[str, Any] = {
        "id": entry.id,
        "kind": entry.kind,
        "parent_id": entry.parent,
        "format": entry.format or None,
        "tags": entry.tags,
        "created_at": timestamp(entry.created_at),
    }
    if entry.kind in {entry_log.MESSAGE, entry_log.OTHER}:
        shown["message"] = entry.body
    if entry.summary is not None:
        facts = entry.summary_facts
        shown |= {"summary": entry.summary, "details": facts.get("details"), "from_hook": facts.get("from_hook")}
    if entry.kind == entry_log.BRANCH_SUMMARY:
        shown["left_entry_id"] = entry.body["from"]
    return shown


def branch_json(branch: Branch) -> dict[str, Any]:
    """A branch as it is listed."""
    return {
        "leaf_entry_id": branch.leaf_entry,
        "left_entry_id": branch.left_entry,
        "message_count": branch.messages,
        "is_head": branch.is_head,
    }


def compaction_json(compaction: Compaction) -> dict[str, Any]:
    """A compaction as it is listed."""
    return {
        "id": compaction.id,
        "live": compaction.is_live,
        "reason": compaction.reason,
        "stages_used": compaction.stages_used,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "price": compaction.price,
        **NO_SUMMARY_FACTS,
        **compaction.summary_facts,
        **compaction.report,
    }


def compaction_with_summary_json(compaction: Compaction, summary: MadeSummary | None) -> dict[str, Any]:
    """A compaction with its summary, if it has one."""
    lines = summary.lines if summary else None
    return {
        **compaction_json(compaction),
        "summary": summary.text if summary else None,
        "in_view": summary.is_in_view if summary else False,
        "lines": None if lines is None else [line._asdict() for line in lines],
        "kinds": summary.kinds if summary else None,
    }


def pinned_json(pin: Pin, path: Path, step: TriggerResult) -> dict[str, Any]:
    """A new pin, with what its trigger did."""
    return {**pin_json(pin), "version": path.session.version, **trigger_json(path, step)}


def ledger_item_json(found: LedgerItem) -> dict[str, Any]:
    """An item of the ledger."""
    item = found.item
    return {
        "id": found.id,
        "kind": item.kind,
        "text": item.text,
        "speaker": item.speaker,
        "state": item.state or None,
        "entry_id": found.entry_id,
        "is_dismissed": found.is_dismissed,
    }


def pin_json(pin: Pin) -> dict[str, Any]:
    """A pin."""
    return {"id": pin.id, "text": pin.text, "created_at": timestamp(pin.created_at)}


def key_json(key: ApiKey) -> dict[str, Any]:
    """A stored API key, without its secret."""
    times = {name: getattr(key, name) for name in ("expires_at", "revoked_at", "used_at")}
    return {
        "id": key.id,
        "name": key.name,
        "scopes": [scope for scope in KeyScope if scope in key.scopes],
        "created_at": timestamp(key.created_at),
        **{name: None if time is None else timestamp(time) for name, time in times.items()},
    }


def audit_json(record: AuditRecord) -> dict[str, Any]:
    """A line of the audit trail."""
    return {
        "created_at": timestamp(record.created_at),
        "actor": record.actor,
        "action": record.action,
        "session_id": record.session_id,
        "object_id": record.object_id,
    }


def recall_json(found: Recalled) -> dict[str, Any]:
    """What a recall found."""
    quotes = found.quotes
    return {
        "items": [_passage_json(passage) for passage in quotes.passages],
        "text": quotes.text,
        "tokens": quotes.tokens,
        "is_complete": found.is_complete,
    }


def _passage_json(passage: Passage) -> dict[str, Any]:
    return {
        **_source_json(passage.source),
        "out_of_view": passage.out_of_view,
        "kind": passage.kind,
        "text": passage.text,
        "before": _neighbour_json(passage.before),
        "after": _neighbour_json(passage.after),
    }


def _neighbour_json(neighbour: Neighbour | None) -> dict[str, Any] | None:
    return None if neighbour is None else {**_source_json(neighbour.source), "text": neighbour.text}


def _source_json(source: Attribution) -> dict[str, Any]:
    return {"entry_id": source.entry_id, "said_by": source.said_by, "tool": source.tool}
