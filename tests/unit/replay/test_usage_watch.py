from __future__ import annotations

from typing import Any

import pytest

from foldline.replay.usage_watch import NOTICE, UsageWatch, levels_of

LIMIT = 10_000


def budget(used: int) -> dict[str, Any]:
    return {"limit": LIMIT, "used": used, "fits": used <= LIMIT}


def watched(*uses: int, threshold: float | None = None) -> list[str | None]:
    """The name of the level that each of these uses passes, or None."""
    watch = UsageWatch(levels_of(threshold))
    crossings = [watch.saw(budget(used)) for used in uses]
    return [None if crossing is None else crossing.level.name for crossing in crossings]


@pytest.mark.parametrize(
    ("uses", "noted"),
    [
        ((5_999, 6_000), (None, None)),
        ((6_001, 7_000, 8_000), ("notice", None, None)),
        ((6_001, 8_001, 9_000, 10_500), ("notice", "warning", None, None)),
        ((9_000, 7_000, 9_000), ("warning", None, "warning")),
        ((9_000, 2_000, 7_000, 9_000), ("warning", None, "notice", "warning")),
    ],
)
def test_a_level_is_noted_once_for_each_time_it_is_passed(uses: tuple[int, ...], noted: tuple[str | None, ...]) -> None:
    assert tuple(watched(*uses)) == noted


def test_the_warning_is_at_the_threshold() -> None:
    assert watched(6_500, 7_001, threshold=0.7) == ["notice", "warning"]


@pytest.mark.parametrize("threshold", [0.2, NOTICE.share])
def test_no_level_lies_above_the_warning(threshold: float) -> None:
    assert watched(2_000, 6_001, 9_000, threshold=threshold) == [None, "warning", None]


def test_levels_passed_at_once_are_one_note_and_each_counted() -> None:
    watch = UsageWatch(levels_of())
    assert watch.crossings == {"notice": 0, "warning": 0}

    crossing = watch.saw(budget(9_000))

    assert crossing is not None
    assert crossing.level.name == "warning"
    assert watch.crossings == {"notice": 1, "warning": 1}


def test_use_before_a_compaction_passes_a_level_though_the_answer_is_below_it() -> None:
    watch = UsageWatch(levels_of())
    compaction = {"id": "e0-9", "job_id": None, "tokens_before": 8_300, "tokens_after": 4_100}

    first = watch.saw(budget(4_100), compaction)
    second = watch.saw(budget(4_200), {**compaction, "tokens_before": 8_400})

    assert first is not None
    assert first.text("one (s1)").splitlines() == [
        "one (s1): 83% of the budget in use (8,300 of 10,000 tokens)",
        "  Compacted at once, to 4,100 tokens (41%).",
    ]
    assert second is not None
    assert watch.crossings == {"notice": 2, "warning": 2}


def test_under_another_count_a_compaction_by_itself_passes_every_level() -> None:
    watch = UsageWatch(levels_of(), counts_otherwise=True)
    compaction = {"id": "e0-9", "job_id": None, "tokens_before": 5_100, "tokens_after": 2_000}

    crossing = watch.saw(budget(2_000), compaction)

    assert crossing is not None
    assert crossing.text("one (s1)").splitlines() == [
        "one (s1): 51% of the budget in use (5,100 of 10,000 tokens)",
        "  Compacted at once, to 2,000 tokens (20%).",
    ]
    assert watch.saw(budget(2_500)) is None
    assert watch.saw(budget(2_500), compaction) is not None
    assert watch.crossings == {"notice": 2, "warning": 2}


def test_a_summary_on_its_way_is_one_crossing_until_the_use_is_lower() -> None:
    watch = UsageWatch(levels_of(), counts_otherwise=True)
    asked = {"id": None, "job_id": "job_1", "tokens_before": 5_100, "tokens_after": 5_100}

    noted = [
        watch.saw(budget(used), compaction)
        for used, compaction in ((5_100, asked), (5_100, None), (5_300, asked), (2_000, None), (5_200, asked))
    ]

    assert [crossing is not None for crossing in noted] == [True, False, False, False, True]


def test_a_summary_of_pending_entries_passes_no_level_that_is_counted_exactly() -> None:
    asked = {"id": None, "job_id": "job_1", "tokens_before": 3_900, "tokens_after": 3_900}

    assert UsageWatch(levels_of()).saw(budget(3_900), asked) is None


@pytest.mark.parametrize(
    ("compaction", "outcome"),
    [
        ({"id": None, "job_id": "job_1", "tokens_before": 8_300}, "A summary is on its way."),
        (None, "once that saves enough"),
    ],
)
def test_a_warning_says_what_becomes_of_the_session(compaction: dict[str, Any] | None, outcome: str) -> None:
    crossing = UsageWatch(levels_of()).saw(budget(8_300), compaction)

    assert crossing is not None
    assert outcome in crossing.text("one").splitlines()[1]


def test_a_notice_is_one_line_whose_percentage_is_rounded_down() -> None:
    crossing = UsageWatch(levels_of()).saw(budget(7_999))

    assert crossing is not None
    assert crossing.text("one") == "one: 79% of the budget in use (7,999 of 10,000 tokens)"
