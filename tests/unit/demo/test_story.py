from __future__ import annotations

import re
import tempfile
from typing import Any

import pytest

from demo.story import PIN, RUN_TESTS, STORY, tool_definitions, transcript
from demo.workspace import scratch_workspace
from foldline.engine.formats import FORMATS, rules
from foldline.engine.tokens.counter import count_messages

# The first test runs the story for all tests. Its tools run programs, which takes a while on a busy machine.
pytestmark = pytest.mark.timeout(300)

WHAT_VARIES = re.compile(r"0x[0-9a-f]{6,}|\b(?!0\.1s)\d+\.\d+s\b")


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    with scratch_workspace() as workspace:
        return transcript(workspace)


def test_the_story_is_a_valid_transcript(messages: list[dict[str, Any]]) -> None:
    assert rules.check("openai", messages, None) == []


def test_nothing_in_the_story_varies_from_run_to_run(messages: list[dict[str, Any]]) -> None:
    printed = [message["content"] for message in messages if message["role"] == "tool"]

    assert not [found for text in printed for found in WHAT_VARIES.findall(text)]
    assert not [text for text in printed if tempfile.gettempdir() in text]


def test_the_story_is_long_enough_to_be_compacted_several_times(messages: list[dict[str, Any]]) -> None:
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
