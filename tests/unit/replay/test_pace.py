from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest

from foldline.engine.models.gauge import Frame
from foldline.engine.policies.policy import Policy, policy_of
from foldline.engine.policies.presets import PRESETS
from foldline.replay.pace import Pace, pace_of
from foldline.replay.steps import TranscriptProgress, fixed_tokens
from foldline.replay.transcripts import Transcript
from tests.support.recorded import chat_session

SMALL = Frame("openai/gpt-4o", 8_000)
LARGE = Frame("openai/gpt-4o", 200_000)
HALF = replace(PRESETS["foldline"], target=0.50, weighs_prefix=False)
CHAT = Transcript("chat", "openai", chat_session(1, turns=20, length=500), system="be brief")


def pace(policy: Policy, frame: Frame = SMALL, transcript: Transcript = CHAT) -> tuple[Pace, TranscriptProgress]:
    progress = TranscriptProgress(transcript.format, fixed_tokens(transcript.system, transcript.tools))
    for message in transcript.messages:
        progress.add([message])
    return pace_of(policy, frame, transcript, progress), progress


def test_from_one_compaction_to_the_next_text_comes_in_from_target_to_trigger() -> None:
    found, progress = pace(HALF)

    between = (0.80 - 0.50) * SMALL.budget(HALF).limit
    assert found.rounds == ceil(progress.message_tokens / between)
    assert found.compactions == 2
    assert found.target == pytest.approx(0.50, abs=0.001)


def test_a_lower_trigger_explains_more_rounds_down_to_less() -> None:
    whole, _ = pace(HALF)
    lowered, _ = pace(replace(HALF, trigger=0.40, target=0.25))

    assert lowered.rounds in (2 * whole.rounds - 1, 2 * whole.rounds)
    assert lowered.target == pytest.approx(0.25, abs=0.001)


@pytest.mark.parametrize("name", [name for name, policy in PRESETS.items() if policy.target >= policy.trigger])
def test_where_nothing_lies_between_trigger_and_target_any_append_may_lead_to_a_round(name: str) -> None:
    found, progress = pace(PRESETS[name])

    assert found.rounds == progress.appends == 40


def test_a_policys_own_count_explains_rounds_where_it_counts_more_than_we_do() -> None:
    exact, _ = pace(PRESETS["foldline"])
    estimated, _ = pace(replace(PRESETS["foldline"], counter="neurolink"))

    assert estimated.rounds > exact.rounds
    assert estimated.target < exact.target


def test_our_count_explains_rounds_where_a_policy_counts_less() -> None:
    numbers = chat_session(1, turns=20, length=200, words=("7391", "0482", "6650"))
    transcript = Transcript("numbers", "openai", numbers)

    exact, _ = pace(PRESETS["foldline"], transcript=transcript)
    estimated, _ = pace(replace(PRESETS["foldline"], counter="codebuddy"), transcript=transcript)

    assert estimated == exact


@pytest.mark.parametrize(
    ("name", "stops"),
    [("foldline", True), ("neurolink", False), ("agent-code", False), ("codebuddy", False), ("pi", True)],
)
def test_a_policy_stops_at_its_target_where_each_of_its_stages_does(name: str, *, stops: bool) -> None:
    assert pace(PRESETS[name])[0].stops_at_target == stops


@pytest.mark.parametrize(
    ("stage", "stops"),
    [
        ("prune", True),
        ({"name": "prune", "stops_at_target": False}, False),
        ("strip", False),
        ("microcompact", False),
        ("summarize", True),
    ],
)
def test_stages_that_take_all_they_may_do_not_stop_at_the_target(stage: object, *, stops: bool) -> None:
    policy = policy_of({"stages": [stage, "truncate"]}, PRESETS)

    assert pace(policy)[0].stops_at_target == stops


@pytest.mark.parametrize(("frame", "chunk"), [(SMALL, 3_200), (LARGE, 12_000)])
def test_a_policy_that_summarizes_in_chunks_may_need_several_summaries_a_round(frame: Frame, chunk: int) -> None:
    found, _ = pace(PRESETS["codebuddy"], frame)

    assert found.compactions == 1 + ceil(frame.budget(PRESETS["codebuddy"]).window / chunk)
