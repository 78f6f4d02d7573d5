from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from foldline.cli.watching.picture import BAR_COLUMNS, FREE, FULL, picture
from foldline.cli.watching.states import WatchedState

JsonDict = dict[str, Any]
STATS = {
    "estimated_input_tokens": 7_067,
    "available_input_tokens": 14_680,
    "usage_ratio": 0.4821,
    "trigger_ratio": 0.7997,
    "within_budget": True,
    "trigger_tokens": 10_169,
    "target_tokens": 2_544,
    "pending_tokens": 0,
    "breakdown": {"system": 29, "tools": 0, "pins": 0, "history": 7_038},
}


def session(name: str = "s_29d612035442440e864f0f67", **changed: Any) -> JsonDict:
    plain = {
        "id": name,
        "model": "anthropic/claude-sonnet-4-5",
        "context_window": 16_000,
        "message_count": 1_120,
        "multiplier": 1.15,
        "auto_compact": True,
        "budget": {"used": 7_067, "limit": 14_680},
    }
    return plain | changed


def compaction(number: int, stages: list[str], before: int, after: int, *, live: bool = True) -> JsonDict:
    tokens = {"tokens_before": before, "tokens_after": after}
    return {"id": f"e0-{number}", "live": live, "reason": "trigger", "stages_used": stages, **tokens}


def job(state: str, **changed: Any) -> JsonDict:
    return {"state": state, "progress": 0.0, "error": None, "waits_for": None, "ended_at": None} | changed


WATCHED = WatchedState(
    "http://127.0.0.1:8080",
    session(),
    STATS,
    [
        compaction(31, ["prune"], 12_322, 2_606),
        compaction(54, ["deduplicate", "prune", "summarize", "truncate"], 12_233, 3_084),
        compaction(74, ["summarize"], 112_233, 3_084, live=False),
    ],
    [job("failed", error="no answer\nin time", ended_at="2026-01-01T00:00:00Z"), job("running", progress=0.4)],
    [session("s_other", model="openai/gpt-4o", message_count=2)],
)


def drawn(state: WatchedState, width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(picture(state))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert max(map(len, lines)) <= width
    return "\n".join(lines)


def test_in_a_terminal_of_80_columns() -> None:
    assert (
        drawn(WATCHED, 80)
        == f"""\
http://127.0.0.1:8080
s_29d612035442440e864f0f67
anthropic/claude-sonnet-4-5 · window 16,000 · 1,120 messages

{FULL * 35}{FREE * 37}
{" " * 15}△{" " * 42}▲
view      7,067 of 14,680 tokens, 48%
compacts  over 80% ▲, down to 20% △
history   25,932 tokens, of which the view saves 18,865 (73%)
jobs      1 running, 1 failed, 40% done
failure   no answer in time

3 compactions, 1 undone
       reason   stages                                            tokens
e0-74  trigger  summarize                                112,233 → 3,084  undone
e0-54  trigger  deduplicate, prune, summarize, truncate   12,233 → 3,084  live
e0-31  trigger  prune                                     12,322 → 2,606  live

other sessions
         model          messages  view
s_other  openai/gpt-4o         2   48%"""
    )


def test_in_a_narrow_terminal_long_lines_wrap_and_stages_are_cut() -> None:
    assert (
        drawn(WATCHED, 60)
        == f"""\
http://127.0.0.1:8080
s_29d612035442440e864f0f67
anthropic/claude-sonnet-4-5 · window 16,000 · 1,120 messages

{FULL * 29}{FREE * 31}
{" " * 12}△{" " * 35}▲
view      7,067 of 14,680 tokens, 48%
compacts  over 80% ▲, down to 20% △
history   25,932 tokens, of which the view saves 18,865
          (73%)
jobs      1 running, 1 failed, 40% done
failure   no answer in time

3 compactions, 1 undone
       reason   stages                        tokens
e0-74  trigger  summarize            112,233 → 3,084  undone
e0-54  trigger  deduplicate, prune…   12,233 → 3,084  live
e0-31  trigger  prune                 12,322 → 2,606  live

other sessions
         model          messages  view
s_other  openai/gpt-4o         2   48%"""
    )


def test_what_is_pending_or_does_not_fit_is_named() -> None:
    stats = STATS | {"pending_tokens": 3_201, "within_budget": False, "usage_ratio": 1.25}
    shown = drawn(replace(WATCHED, stats=stats), 80)
    assert "pending   3,201 tokens out of view wait for a summary" in shown
    assert "tokens, 125%, does not fit" in shown
    assert FULL * BAR_COLUMNS + "\n" in shown


def test_an_empty_service_is_no_error() -> None:
    assert "No sessions yet" in drawn(WatchedState("http://127.0.0.1:8080"), 60)


def test_a_new_session_without_a_known_window_or_target_has_a_bar_without_those() -> None:
    new = session(context_window=None, message_count=0, model="nobody/\x1b[31mnothing")
    stats = STATS | {"estimated_input_tokens": 0, "usage_ratio": 0.0, "trigger_tokens": None, "target_tokens": None}
    shown = drawn(WatchedState("http://127.0.0.1:8080", new, stats), 60)
    assert "nothing · window not known · 0 messages\n" in shown
    assert "\x1b" not in shown
    assert "compacts  over 80% ▲\n" in shown
    assert "history   all in view\n" in shown
    assert shown.endswith("jobs      none")


def test_a_failure_and_other_services_stand_at_the_top() -> None:
    shown = drawn(replace(WATCHED, failure="No answer.", other_services=["http://127.0.0.1:1"]), 60)
    assert shown.startswith(
        "http://127.0.0.1:8080\nNo answer.\nTrying again. The picture is from before that.\n\n"
        "Also running: http://127.0.0.1:1; --url shows another.\ns_29d"
    )


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ([job("succeeded", ended_at="2026-01-01T00:00:00Z")], "none waits or runs, 1 ended"),
        ([job("queued", waits_for="http://llm")], "1 queued, waiting for http://llm"),
    ],
)
def test_jobs_are_counted_by_state(jobs: list[JsonDict], said: str) -> None:
    assert f"jobs      {said}\n" in drawn(replace(WATCHED, jobs=jobs), 80)
