from __future__ import annotations

from typing import Any

import pytest

from cli.demo_story import PIN, RUN_TESTS, STORY, tell, tool_definitions
from cli.demo_workspace import scratch_workspace
from compaction.formats import FORMATS, rules
from compaction.tokens import count_messages


def tell_it() -> list[dict[str, Any]]:
    with scratch_workspace() as workspace:
        return tell(workspace)


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    return tell_it()


def test_the_story_is_a_valid_transcript_that_is_told_the_same_every_time(messages: list[dict[str, Any]]) -> None:
    assert rules.check("openai", messages, None) == []
    assert messages == tell_it()


def test_the_story_is_long_enough_to_be_folded_several_times(messages: list[dict[str, Any]]) -> None:
    assert count_messages(FORMATS["openai"].parse(messages)) > 25_000


def test_edits_and_test_runs_of_the_story_go_as_it_says(messages: list[dict[str, Any]]) -> None:
    results = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls", ())}
    edits = [text for call_id, text in results.items() if calls[call_id]["name"] == "edit_file"]
    runs = [text for call_id, text in results.items() if RUN_TESTS.arguments["command"] in calls[call_id]["arguments"]]

    assert [text.split(" ")[0] for text in edits] == ["replaced", "replaced"]
    assert [text.splitlines()[-1] for text in runs] == ["exit code 1", "exit code 1", "exit code 0", "exit code 0"]
    assert not any(text.startswith("Error") for text in results.values())


def test_every_tool_of_the_story_is_declared_and_the_pin_is_said_by_the_user() -> None:
    used = {call.tool for turn in STORY for act in turn.acts for call in act.calls}

    assert used == {tool["function"]["name"] for tool in tool_definitions()}
    assert PIN in STORY[0].request
