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
    assert serializers.step(scene.path, TriggerResult(made)) == {
        "id": "e0-8",
        "ids": ["e0-7", "e0-8"],
        "stages_used": ["prune", "summarize"],
        "tokens_before": 900,
        "tokens_after": 400,
        "job_id": None,
    }
