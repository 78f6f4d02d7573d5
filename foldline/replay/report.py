"""The report of a replay as tables for a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console

from foldline.replay.record import TIMED, ReplayFigures, SessionRecord, latency
from foldline.terminal import kinds_table, table_of

# A long file's table of sessions would push everything else off the screen.
SESSIONS_SHOWN: Final = 40


def show(console: Console, figures: ReplayFigures) -> None:
    """Print the report; its last line is `violations: N`."""
    console.print(_sessions_table(figures.sessions))
    if len(figures.sessions) > SESSIONS_SHOWN:
        console.print(f"… and {len(figures.sessions) - SESSIONS_SHOWN} more sessions, counted below", style="dim")
    console.print()
    console.print(table_of((("", False), ("", False)), _rows(figures)))
    console.print()
    if items := figures.items():
        console.print(kinds_table(items))
        console.print()
    console.print(
        table_of(
            (("request", False), ("count", True), ("p50", True), ("p99", True), ("slowest", True)),
            _latency_rows(figures),
        )
    )
    _show_texts(console, "listed", figures.listed)
    _show_texts(console, "violations", figures.violations)
    console.print(f"violations: {len(figures.violations)}", style="bold red" if figures.violations else "bold green")


def _sessions_table(records: list[SessionRecord]) -> Any:
    columns = (
        ("session", False),
        ("turns", True),
        ("calls", True),
        ("tokens", True),
        ("compactions", True),
        ("jobs", True),
        ("without", True),
        ("with", True),
        ("out of view", True),
        ("by program", True),
    )
    return table_of(columns, map(_session_row, records[:SESSIONS_SHOWN]))


def _session_row(record: SessionRecord) -> tuple[Any, ...]:
    return (
        record.id,
        record.turns,
        record.model_calls,
        f"{record.appended_tokens:,}",
        len(record.compactions),
        len(record.jobs),
        f"{record.tokens_without:,}",
        f"{record.tokens_with:,}",
        _mean(record.out_of_view, record.views_compared),
        _mean(record.program_out_of_view, record.views_compared),
    )


def _mean(messages: int, views: int) -> str:
    return f"{messages / views:,.1f}" if views else "–"


def _rows(figures: ReplayFigures) -> Iterator[tuple[str, str]]:
    yield "sessions", str(len(figures.sessions))
    yield "turns", f"{figures.total('turns'):,}, with {figures.total('model_calls'):,} model calls"
    yield "messages", f"{figures.total('messages'):,} of {figures.total('appended_tokens'):,} tokens"
    yield "compactions by stage", _counts(figures.stages())
    yield "compactions by reason", _counts(figures.reasons())
    yield "jobs", _counts(figures.job_states())
    yield "prefix changes", f"{figures.total('prefix_changes'):,}"
    yield "input tokens", _saving(figures.total("tokens_without"), figures.total("tokens_with"))
    yield "out of view", _out_of_view(figures)
    images = figures.most("most_images")
    yield "largest view", f"{figures.most('largest_bytes'):,} bytes" + (f", {images} images" if images else "")
    fill = figures.fill
    yield "view after a compaction", "no compactions" if fill is None else f"{fill:.2f} of the budget in the median"


def _out_of_view(figures: ReplayFigures) -> str:
    views = figures.total("views_compared")
    if not views:
        return "not compared"
    ours, program = (_mean(figures.total(name), views) for name in ("out_of_view", "program_out_of_view"))
    beyond = figures.total("views_beyond_program")
    budget = figures.total("views_beyond_by_budget")
    return (
        f"{ours} messages in the mean view, {program} by the preset's own program; "
        f"more than that in {beyond:,} of {views:,} views, {budget:,} of which would not fit otherwise"
    )


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counter.most_common()) or "none"


def _saving(without: int, with_foldline: int) -> str:
    if not without:
        return "none"
    return f"{without:,} without, {with_foldline:,} with: {1 - with_foldline / without:.0%} saved"


def _latency_rows(figures: ReplayFigures) -> Iterator[tuple[str, ...]]:
    for kind in TIMED:
        if figures.seconds.get(kind):
            measured = latency(figures.seconds[kind])
            yield (
                kind,
                f"{measured['requests']:,}",
                *(f"{measured[key] * 1000:.1f} ms" for key in ("p50", "p99", "max")),
            )


def _show_texts(console: Console, title: str, texts: list[str]) -> None:
    if texts:
        console.print(f"\n{title}", style="bold")
    for text in texts:
        console.print(f"  {text}", markup=False)
