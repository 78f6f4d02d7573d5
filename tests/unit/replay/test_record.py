from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from foldline.replay import report as replay_report
from foldline.replay.pace import Pace
from foldline.replay.record import ReplayFigures, SessionRecord, latency, percentile


def compaction(*stages: str, reason: str = "trigger") -> dict[str, object]:
    return {"id": "c", "reason": reason, "stages_used": list(stages)}


def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed() -> None:
    values = [float(n) for n in range(100, 0, -1)]

    assert (percentile(values, 50), percentile(values, 99), percentile(values, 100)) == (50, 99, 100)
    assert percentile([7.0], 50) == percentile([7.0], 99) == 7.0
    assert latency([1.0, 3.0, 2.0]) == {"requests": 3, "p50": 2.0, "p99": 3.0, "max": 3.0}


def test_figures_add_up_over_sessions() -> None:
    one = SessionRecord("one", turns=2, tokens_with=10, tokens_without=40, prefix_changes=1)
    two = SessionRecord("two", turns=3, tokens_with=20, tokens_without=60)
    one.compactions = [compaction("prune", "truncate"), compaction("summarize", reason="summary")]
    two.compactions = [compaction("prune")]
    two.jobs = [{"id": "j", "state": "succeeded"}, {"id": "k", "state": "failed"}]

    report = ReplayFigures([one, two], {"append": [0.1, 0.3], "context": [0.2]}).as_json()

    assert (report["turns"], report["tokens_with"], report["tokens_without"], report["compactions"]) == (5, 30, 100, 3)
    assert report["compactions_by_stage"] == {"prune": 2, "truncate": 1, "summarize": 1}
    assert report["compactions_by_reason"] == {"trigger": 2, "summary": 1}
    assert report["jobs_by_state"] == {"succeeded": 1, "failed": 1}
    assert report["slowest_seconds"] == 0.3
    assert report["prefix_changes"] == 1


PACE = Pace(rounds=2, compactions=2, target=0.5)


@pytest.mark.parametrize(("count", "is_violation"), [(4, False), (5, True)])
def test_more_compactions_than_the_tokens_explain_are_a_violation(*, count: int, is_violation: bool) -> None:
    record = SessionRecord("one", pace=PACE, compactions=[compaction("prune")] * count)

    record.check_compactions()

    assert bool(record.violations) == is_violation


def test_what_jobs_failed_with_is_listed_once_for_each_error() -> None:
    jobs = [("failed", "no answer"), ("failed", "no answer"), ("failed", "empty"), ("succeeded", None)]
    record = SessionRecord("one", jobs=[{"state": state, "error": error} for state, error in jobs])

    record.list_failures()

    assert record.listed == ["2 jobs failed: no answer", "1 job failed: empty"]


def test_requested_compactions_are_explained() -> None:
    record = SessionRecord("one", pace=PACE, requested_compactions=1)
    record.compactions = [compaction("prune")] * 6

    record.check_compactions()

    assert record.violations == []


def test_a_session_that_could_not_be_created_has_nothing_to_explain() -> None:
    record = SessionRecord("one")

    record.check_compactions()

    assert record.violations == []
    assert record.fills_of_target == []


def test_views_that_are_far_below_their_target_after_compactions_are_a_violation() -> None:
    full, empty = SessionRecord("one", pace=PACE, fills=[0.5, 0.4]), SessionRecord("two", pace=PACE)
    empty.fills = [0.1, 0.2, 0.29]

    assert ReplayFigures([full], {}).violations == []
    (violation,) = ReplayFigures([full, empty], {}).violations
    assert violation == "views after a compaction hold 0.58 of their target in the median, not 0.6"
    assert ReplayFigures([full, replace(empty, requested_compactions=1)], {}).violations == []


def test_a_lower_target_explains_emptier_views() -> None:
    record = SessionRecord("one", pace=replace(PACE, target=0.25), fills=[0.2])

    assert ReplayFigures([record], {}).violations == []


def test_views_may_be_emptier_where_a_policy_does_not_stop_at_its_target() -> None:
    record = SessionRecord("one", pace=replace(PACE, stops_at_target=False), fills=[0.1])

    assert ReplayFigures([record], {}).violations == []
    assert ReplayFigures([record], {}).fill == 0.1


def test_crossings_add_up_over_sessions_and_levels_never_passed_are_shown() -> None:
    one = SessionRecord("one", usage_crossings=Counter({"notice": 2, "warning": 0}))
    two = SessionRecord("two", usage_crossings=Counter({"notice": 1, "warning": 0}))

    report = ReplayFigures([one, two], {}).as_json()

    assert report["usage_crossings"] == {"notice": 3, "warning": 0}
    assert [session["usage_crossings"]["notice"] for session in report["per_session"]] == [2, 1]


def test_items_add_up_over_the_summaries_in_view_and_replaced_ones_over_all() -> None:
    below = {"rule": {"kept": 2, "recallable": 1, "replaced": 1}, "call": {"kept": 9, "recallable": 0, "replaced": 0}}
    above = {"rule": {"kept": 3, "recallable": 4, "replaced": 2}}
    one, two = SessionRecord("one"), SessionRecord("two")
    one.add_items([{"in_view": False, "kinds": below}, {"in_view": True, "kinds": above}])
    two.add_items([{"in_view": True, "kinds": above}, {"in_view": True, "kinds": None}])

    figures = ReplayFigures([one, two], {})

    assert figures.as_json()["items_by_kind"]["rule"] == {"kept": 6, "recallable": 8, "replaced": 5}
    assert figures.as_json()["per_session"][0]["items_by_kind"]["rule"] == {"kept": 3, "recallable": 4, "replaced": 3}
    assert "call" not in figures.items(), "its lines are in the later summary, or recallable there"
    assert ["rule", "6", "8", "5"] in [line.split() for line in shown(figures)]


@pytest.mark.parametrize(("count", "listed"), [(0, []), (1, ["1 view did not fit: compaction is disabled"])])
def test_views_over_budget_are_listed_if_there_are_any(count: int, listed: list[str]) -> None:
    record = SessionRecord("one", views_over_budget=count)

    record.list_views_over_budget()

    assert record.listed == listed


def shown(figures: ReplayFigures) -> list[str]:
    console = Console(width=160, file=StringIO())
    with console.capture() as capture:
        replay_report.show(console, figures)
    return capture.get().splitlines()


def test_the_report_ends_with_the_number_of_violations() -> None:
    record = SessionRecord(
        "one [x]", violations=["message 3: too long"], listed=["no view"], tokens_without=100, tokens_with=40
    )

    text = shown(ReplayFigures([record], {"append": [0.001, 0.002]}))

    assert text[-1] == "violations: 1"
    assert text[-2].strip() == "one [x]: message 3: too long"
    assert any(line.split() == ["append", "2", "1.0", "ms", "2.0", "ms", "2.0", "ms"] for line in text)
    assert any("60% saved" in line for line in text)
    assert any(line.strip() == "one [x]: no view" for line in text)


def test_the_report_compares_what_is_out_of_view_with_the_presets_own_program() -> None:
    one = SessionRecord("one", views_compared=4, out_of_view=10, program_out_of_view=8)
    one.views_beyond_program, one.views_beyond_by_budget = 3, 2
    figures = ReplayFigures([one, SessionRecord("two")], {})

    text = shown(figures)

    assert [line.split()[-2:] for line in text if line.split()[:1] in (["one"], ["two"])] == [
        ["2.5", "2.0"],
        ["–", "–"],
    ]
    (line,) = [line for line in text if line.startswith("out of view")]
    assert "2.5 messages in the mean view, 2.0 by the preset's own program" in line
    assert "more than that in 3 of 4 views, 2 of which would not fit otherwise" in line
    assert figures.as_json()["per_session"][0]["program_out_of_view"] == 8


def test_a_report_without_a_known_preset_compares_nothing() -> None:
    assert any("not compared" in line for line in shown(ReplayFigures([SessionRecord("one")], {})))


def test_a_clean_report_says_so() -> None:
    assert shown(ReplayFigures([SessionRecord("one")], {}))[-1] == "violations: 0"
