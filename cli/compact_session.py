"""`foldline compact` without a file: a session of the database, as `POST /sessions/{id}/compact` would have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cli.consoles import answers, notes, print_json, table_of
from cli.failures import CommandFailed
from cli.session_files import opened
from compaction.errors import CompactionError
from sessions import asked, lifecycle, paths, segments
from sessions.asks import Ask
from sessions.errors import SessionsError
from sessions.preparing import Cut
from sessions.store import Store, Transaction

NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Wish:
    """Which session is to be compacted and how; the newest of the tenant if `session` is None."""

    session: str | None
    tenant: str
    ask: Ask
    window: int | None
    stages: list[str] | None
    summarize: bool | None
    is_dry_run: bool


def compact_session(wish: Wish, database_url: str | None) -> None:
    """Compact it, or show where a summary would cut it; JSON to stdout, a table to stderr.

    Raises:
        CommandFailed: there is no such session, or it cannot be compacted so.
    """
    try:
        with opened(database_url) as store:
            name = wish.session or _newest(store, wish.tenant)
            (_rehearse if wish.is_dry_run else _compact)(store, name, wish)
    except (CompactionError, SessionsError) as error:
        raise CommandFailed(str(error)) from error


def _newest(store: Store, tenant: str) -> str:
    with store.read() as tx:
        name = lifecycle.newest(tx, tenant)
    if name is None:
        raise CommandFailed("there is no session in the database; make one with `foldline import FILE`")
    return name


def _rehearse(store: Store, name: str, wish: Wish) -> None:
    with store.read() as tx:
        cut = asked.cut(tx, wish.tenant, name, wish.ask, context_window=wish.window)
    notes().print(table_of((("", False), ("", False), ("", False)), _rows(name, cut)))
    print_json(answers(), cut.told)


def _rows(name: str, cut: Cut) -> list[tuple[str, str, str]]:
    prefix = f"and {cut.turn_prefix:,} of the turn that is split" if cut.turn_start else ""
    return [
        ("session", name, ""),
        ("tokens before", f"{cut.context_tokens:,}", "as the policy counts"),
        ("first kept entry", _number(cut.first_kept), cut.first_kept or ""),
        ("turn start", _number(cut.turn_start), f"{cut.turn_start}, split" if cut.turn_start else ""),
        ("to summarize", f"{cut.messages:,} messages", prefix),
        ("earlier summaries", f"{len(cut.replaces)}" if cut.replaces else NONE, ""),
        ("files", f"{len(cut.files.read_only):,} read, {len(cut.files.changed):,} changed", ""),
    ]


def _number(entry_id: str | None) -> str:
    """The place of an entry on its path, the first being 0."""
    return NONE if entry_id is None else str(segments.parse_entry_id(entry_id)[1] - 1)


def _compact(store: Store, name: str, wish: Wish) -> None:
    with store.write() as tx:
        told = _compacted(tx, name, wish)
    notes().print(table_of((("", False), ("", False)), [(key, str(value)) for key, value in told.items()]))
    print_json(answers(), told)


def _compacted(tx: Transaction, name: str, wish: Wish) -> dict[str, Any]:
    before = paths.open_head(tx, wish.tenant, name).used
    made = []
    if wish.window is not None:
        made = lifecycle.change(tx, wish.tenant, name, {"context_window": wish.window})[1].made
    path, step, _ = asked.compact(tx, wish.tenant, name, wish.ask, stages=wish.stages, summarize=wish.summarize)
    return {
        "session": name,
        "tokens_before": before,
        "tokens_after": path.used,
        "compactions": [compaction.id for compaction in (*made, *step.made)],
        # Whoever works on this database, as `foldline serve` does, writes the summary.
        "job": None if step.request is None else step.request.job_id,
    }
