"""`foldline compact` without a file: a session of the database, as `POST /sessions/{id}/compact` would have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Final

from foldline_api.http.auth import DEFAULT_TENANT

from foldline.cli.commands.session_files import opened
from foldline.engine.errors import CompactionError
from foldline.log.access import audit
from foldline.log.access.audit import COMMAND, AuditedAction
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.planned_cut import PlannedCut
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.errors import SessionsError
from foldline.log.storage import segments
from foldline.log.storage.store import Store
from foldline.log.use_cases import compact, lifecycle
from foldline.terminal import CommandFailed, answers, notes, print_json, table_of

NONE: Final = "none"
NOTHING: Final = "nothing to summarize"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Which session is to be compacted and how; a dry run is of the tenant's newest if `session` is None."""

    session: str | None
    tenant: str
    request: SummaryRequest
    window: int | None
    stages: list[str] | None
    summarize: bool | None
    is_dry_run: bool


def _check(options: SessionOptions, for_files: Mapping[str, object]) -> None:
    """Raise CommandFailed for options that go with no stored session."""
    if options.session is None and not options.is_dry_run:
        raise CommandFailed("name a FILE, or a stored session with --session")
    for option, value in for_files.items():
        if value:
            raise CommandFailed(f"{option} is for a FILE, not for a stored session; leave it out, or name a FILE")
    if options.is_dry_run and (options.stages or options.summarize is not None):
        raise CommandFailed("--dry-run shows where a summary would cut a session; leave --stage and --summarize out")
    if options.window is not None and not options.is_dry_run:
        raise CommandFailed(
            "--window would change the session: change the session's window with PATCH /sessions/ID, or add --dry-run"
        )


def compact_session(
    for_files: Mapping[str, object],
    *,
    session: str | None,
    tenant: str | None,
    instructions: str | None,
    target: int | None,
    policy: Mapping[str, Any] | None,
    window: int | None,
    stages: list[str] | None,
    summarize: bool | None,
    is_dry_run: bool,
    database_url: str | None,
) -> None:
    """Compact a session, or show where a summary would cut it; JSON to stdout, a table to stderr.

    `for_files` has the options that are for a FILE.

    Raises:
        CommandFailed: the options do not go together, or there is no such session, or it cannot be compacted so.
    """
    request = SummaryRequest(is_asked=True, instructions=instructions, target_tokens=target, policy=policy)
    options = SessionOptions(session, tenant or DEFAULT_TENANT, request, window, stages, summarize, is_dry_run)
    _check(options, for_files)
    try:
        with opened(database_url) as store:
            name = options.session or _newest(store, options.tenant)
            (_rehearse if options.is_dry_run else _compact)(store, name, options)
    except (CompactionError, SessionsError) as error:
        raise CommandFailed(str(error)) from error


def _newest(store: Store, tenant: str) -> str:
    with store.read() as tx:
        name = lifecycle.newest(tx, tenant)
    if name is None:
        raise CommandFailed("there is no session in the database; make one with `foldline import FILE`")
    return name


def _rehearse(store: Store, name: str, options: SessionOptions) -> None:
    with store.read() as tx:
        cut = compact.cut(tx, options.tenant, name, options.request, context_window=options.window)
    notes().print(table_of((("", False), ("", False), ("", False)), _rows(name, cut)))
    print_json(answers(), None if _is_empty(cut) else cut.as_json)


def _is_empty(cut: PlannedCut) -> bool:
    return cut.messages + cut.turn_prefix == 0


def _rows(name: str, cut: PlannedCut) -> list[tuple[str, str, str]]:
    prefix = f"and {cut.turn_prefix:,} of the turn that is split" if cut.turn_start else ""
    return [
        ("session", name, ""),
        ("tokens before", f"{cut.context_tokens:,}", "as the policy counts"),
        ("first kept entry", _number(cut.first_kept), cut.first_kept or ""),
        ("turn start", _number(cut.turn_start), f"{cut.turn_start}, split" if cut.turn_start else ""),
        ("to summarize", NOTHING if _is_empty(cut) else f"{cut.messages:,} messages", prefix),
        ("new summaries", _or_none(cut.summaries), "the last request stays between them" if cut.summaries[1:] else ""),
        ("earlier summaries", _or_none(cut.replaces), ""),
        ("files", f"{len(cut.files.read_only):,} read, {len(cut.files.changed):,} changed", ""),
    ]


def _or_none(listed: Sized) -> str:
    return f"{len(listed)}" if listed else NONE


def _number(entry_id: str | None) -> str:
    """The place of an entry on its path, the first being 0."""
    return NONE if entry_id is None else str(segments.parse_entry_id(entry_id)[1] - 1)


def _total(made: Iterable[Compaction], name: str) -> float | None:
    """The sum of one figure of the compactions' prices; None if one of them does not have it."""
    figures: list[float | None] = [(compaction.price or {}).get(name) for compaction in made]
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None


def _compact(store: Store, name: str, options: SessionOptions) -> None:
    with store.write() as tx:
        done = compact.compact(
            tx, options.tenant, name, options.request, stages=options.stages, summarize=options.summarize
        )
        if done.effect_id is not None:
            action = AuditedAction.COMPACTED
            audit.record(tx, options.tenant, COMMAND, action, session_id=name, object_id=done.effect_id)
    report = {
        "session": name,
        "tokens_before": done.tokens_before,
        "tokens_after": done.path.used,
        "compactions": [compaction.id for compaction in done.step.made],
        "rewritten_tokens": _total(done.step.made, "rewritten_tokens"),
        "cost_usd": _total(done.step.made, "cost_usd"),
        "saved_usd_in_each_call": _total(done.step.made, "saved_usd"),
        "job": None if done.job is None else done.job.id,
    }
    notes().print(table_of((("", False), ("", False)), [(key, str(value)) for key, value in report.items()]))
    if done.job is not None:
        notes().print("The job waits for whoever works on this database, such as `foldline serve`.", markup=False)
    print_json(answers(), report)
