"""The picture of a watched session: a pure function from what the service has to something that rich draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from foldline.cli.watching.states import WatchedState
from foldline.log.job_state import JobState
from foldline.terminal import printable, table_of

JsonDict = dict[str, Any]
# Compactions that are shown, the newest.
COMPACTIONS: Final = 5
BAR_COLUMNS: Final = 72
# States of jobs that somebody who looks wants to know about.
SHOWN_STATES: Final = (JobState.QUEUED, JobState.RUNNING, JobState.FAILED)
FULL, FREE, TRIGGER, TARGET = "█", "░", "▲", "△"
EMPTY: Final = (
    "No sessions yet: the first request of an agent makes one. Requests to a model whose window is not known go on "
    "as they came; `foldline run --window 64k` gives one."
)


def picture(state: WatchedState) -> RenderableType:
    """All that is shown, as wide as the console."""
    return Group(Text(state.url, style="dim"), *_notes(state), *(_session(state) if state.session else [Text(EMPTY)]))


def _notes(state: WatchedState) -> Iterator[RenderableType]:
    """At the top, as a picture is cut at the height of its terminal."""
    if state.failure:
        yield Text(f"{printable(state.failure)}\nTrying again. The picture is from before that.\n", style="red")
    if state.other_services:
        yield Text(f"Also running: {', '.join(state.other_services)}; --url shows another.", style="dim")


def _session(state: WatchedState) -> Iterator[RenderableType]:
    session, stats = state.session or {}, state.stats or {}
    yield _line(session["id"], style="bold")
    yield _line(_about(session))
    yield Text()
    marks = _marks(session, stats)
    yield FillBar(stats["usage_ratio"], marks)
    yield _facts(
        {
            "view": _view(stats),
            "compacts": _marks_named(marks) if session["auto_compact"] else "when asked",
            "history": _history(state.compactions, stats["estimated_input_tokens"]),
            "pending": f"{stats['pending_tokens']:,} tokens out of view wait for a summary"
            if stats["pending_tokens"]
            else "",
            "jobs": _jobs(state.jobs),
            "failure": _last_failure(state.jobs),
        }
    )
    if state.compactions:
        yield Text()
        yield _compactions(state.compactions)
    if state.others:
        yield Text()
        yield _others(state.others)


def _about(session: JsonDict) -> str:
    window = session["context_window"]
    size = "window not known" if window is None else f"window {window:,}"
    return f"{session['model']} · {size} · {session['message_count']:,} messages"


def _view(stats: JsonDict) -> Text:
    used, limit = stats["estimated_input_tokens"], stats["available_input_tokens"]
    fits = Text() if stats["within_budget"] else Text(", does not fit", style="red")
    return Text(f"{used:,} of {limit:,} tokens, {stats['usage_ratio']:.0%}").append_text(fits)


def _marks(session: JsonDict, stats: JsonDict) -> dict[str, float]:
    """The shares of the bar at which trigger and target are; the target's only if there is a history to go by."""
    trigger, target = stats["trigger_tokens"], stats["target_tokens"]
    if not trigger or target is None:
        return {TRIGGER: stats["trigger_ratio"]}
    # Both are tokens of the history, as counted before the multiplier; the bar has the fixed parts too.
    parts = stats["breakdown"]
    fixed = sum(parts[name] for name in ("system", "tools", "pins")) / session["multiplier"]
    return {TRIGGER: stats["trigger_ratio"], TARGET: stats["trigger_ratio"] * (target + fixed) / (trigger + fixed)}


def _marks_named(marks: dict[str, float]) -> str:
    down = f", down to {marks[TARGET]:.0%} {TARGET}" if TARGET in marks else ""
    return f"over {marks[TRIGGER]:.0%} {TRIGGER}{down}"


def _history(compactions: Sequence[JsonDict], used: int) -> str:
    """The whole history in tokens: the view, and what the compactions that are live took out of it."""
    saved = sum(made["tokens_before"] - made["tokens_after"] for made in compactions if made["live"])
    if not saved:
        return "all in view"
    return f"{used + saved:,} tokens, of which the view saves {saved:,} ({saved / (used + saved):.0%})"


def _jobs(jobs: Sequence[JsonDict]) -> str:
    """Jobs by state, how far the newest that runs is, and what the newest that waits needs."""
    counts = Counter(job["state"] for job in jobs)
    parts = [f"{counts[state]:,} {state}" for state in SHOWN_STATES if counts[state]]
    done = [f"{job['progress']:.0%} done" for job in jobs if job["state"] == JobState.RUNNING and job["progress"]]
    waits = [f"waiting for {job['waits_for']}" for job in jobs if job["waits_for"]]
    none = f"none waits or runs, {len(jobs):,} ended" if jobs else "none"
    return ", ".join(parts + done[-1:] + waits[-1:]) or none


def _last_failure(jobs: Sequence[JsonDict]) -> str:
    """Why the job that ended last failed, if it did."""
    ended = (job for job in jobs if job["ended_at"])
    last = max(ended, key=lambda job: str(job["ended_at"]), default=None)
    return " ".join(str(last["error"]).split()) if last and last["state"] == JobState.FAILED else ""


def _compactions(compactions: Sequence[JsonDict]) -> Table:
    undone = sum(not made["live"] for made in compactions)
    title = f"{len(compactions):,} compactions" + (f", {undone:,} undone" if undone else "")
    columns = (("", False), ("reason", False), ("stages", False), ("tokens", True), ("", False))
    return _table(columns, (_compaction(made) for made in reversed(compactions[-COMPACTIONS:])), title, flexible=2)


def _compaction(made: JsonDict) -> tuple[str, ...]:
    tokens = f"{made['tokens_before']:,} → {made['tokens_after']:,}"
    stages = ", ".join(made["stages_used"])
    return made["id"], made["reason"], stages, tokens, "live" if made["live"] else "undone"


def _others(sessions: Sequence[JsonDict]) -> Table:
    columns = (("", False), ("model", False), ("messages", True), ("view", True))
    return _table(columns, map(_other, sessions), "other sessions", flexible=1)


def _other(session: JsonDict) -> tuple[str, ...]:
    budget = session["budget"]
    return session["id"], session["model"], f"{session['message_count']:,}", f"{budget['used'] / budget['limit']:.0%}"


def _table(columns: Sequence[tuple[str, bool]], rows: Iterator[tuple[str, ...]], title: str, flexible: int) -> Table:
    """A table one line a row: in a narrow terminal the flexible column is cut."""
    table = table_of(columns, ([_line(cell) for cell in row] for row in rows), title)
    for index, column in enumerate(table.columns):
        column.no_wrap = index != flexible
    return table


def _facts(facts: dict[str, str | Text]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in facts.items():
        if value:
            table.add_row(Text(name, style="dim"), value if isinstance(value, Text) else Text(printable(value)))
    return table


def _line(text: str, style: str = "") -> Text:
    """A text from the service on one line."""
    return Text(" ".join(printable(text).split()), style=style, no_wrap=True, overflow="ellipsis")


@dataclass(frozen=True, slots=True)
class FillBar:
    """A bar that is filled to a share of it, and below it marks at other shares."""

    share: float
    marks: dict[str, float]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width = min(options.max_width, BAR_COLUMNS)
        filled = min(width, round(self.share * width))
        yield Text(FULL * filled, style=self._style).append(FREE * (width - filled), style="dim")
        below = [" "] * width
        for mark, share in self.marks.items():
            below[min(width - 1, round(share * width))] = mark
        yield Text("".join(below))

    @property
    def _style(self) -> str:
        if self.share > self.marks[TRIGGER]:
            return "red"
        return "yellow" if self.share > self.marks.get(TARGET, 0) else "green"
