"""How the things of the session log look in answers."""

from __future__ import annotations

from foldline_api import serializers

from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.trigger import TriggerResult
from tests.support.log.sessions import Scene


def test_a_step_of_several_compactions_names_all_of_them_and_the_newest(scene: Scene) -> None:
    made = [
        Compaction("e0-7", "trigger", ["prune"], 900, 700, is_live=True),
        Compaction("e0-8", "summary", ["summarize"], 700, 400, is_live=True),
    ]
    assert serializers.trigger_json(scene.path, TriggerResult(made))["compaction"] == {
        "id": "e0-8",
        "ids": ["e0-7", "e0-8"],
        "stages_used": ["prune", "summarize"],
        "tokens_before": 900,
        "tokens_after": 400,
        "job_id": None,
    }


def test_a_result_and_one_more_compaction_are_one_result() -> None:
    report = {"original_tokens": 900, "final_tokens": 700, "tier": 1}
    step = TriggerResult([Compaction("e0-7", "asked", ["prune"], 900, 700, report=report)], report=report)
    later = {"original_tokens": 650, "final_tokens": 300, "tier": 2}
    summary = Compaction("e0-9", "summary", ["summarize", "prune"], 650, 300, report=later)
    assert serializers.result_json_with(serializers.result_json(step, 900, 700), summary) == {
        "compacted": True,
        "stages_used": ["prune", "summarize"],
        "tokens_before": 900,
        "tokens_after": 300,
        "tokens_saved": 600,
        "original_tokens": 900,
        "final_tokens": 300,
        "tier": 2,
    }
