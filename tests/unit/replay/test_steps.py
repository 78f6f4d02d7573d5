from __future__ import annotations

from typing import Any

from foldline.engine.tokens.counter import MESSAGE, count_system, count_text, count_tools
from foldline.replay.steps import Step, TranscriptProgress, fixed_tokens, steps_of

JsonDict = dict[str, Any]


def user(text: str) -> JsonDict:
    return {"role": "user", "content": text}


def assistant(*call_ids: str) -> JsonDict:
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in call_ids]
    return {"role": "assistant", "content": "well", **({"tool_calls": calls} if calls else {})}


def result(call_id: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": "a stone"}


def test_a_step_is_what_was_said_before_an_answer_and_the_answer() -> None:
    messages = [user("a"), user("b"), assistant("c1"), result("c1"), assistant(), assistant(), user("c")]

    assert list(steps_of(messages, "openai")) == [
        Step([user("a"), user("b")], [assistant("c1")]),
        Step([result("c1")], [assistant()]),
        Step([], [assistant()]),
        Step([user("c")], []),
    ]


def test_items_of_one_response_are_one_answer() -> None:
    reasoning = {"type": "reasoning", "summary": []}
    calls = [{"type": "function_call", "call_id": i, "name": "look", "arguments": "{}"} for i in "ab"]
    outputs = [{"type": "function_call_output", "call_id": i, "output": "a stone"} for i in "ab"]
    messages = [user("a"), reasoning, *calls, *outputs, {"role": "assistant", "content": "well"}]

    assert list(steps_of(messages, "responses")) == [
        Step([user("a")], [reasoning, *calls]),
        Step(outputs, [messages[-1]]),
    ]


def test_calls_are_open_until_their_results_or_another_message_arrive() -> None:
    progress = TranscriptProgress("openai")

    progress.add([assistant("c1", "c2"), result("c2")])
    assert progress.open_calls == ["c1"]
    progress.add([result("c9")])
    assert progress.open_calls == ["c1"]
    progress.add([user("never mind")])
    assert progress.open_calls == []


def test_the_last_user_message_is_known_with_what_it_takes() -> None:
    progress = TranscriptProgress("openai", fixed_tokens=10)

    progress.add([user("first"), user("what is it?"), assistant()])

    assert (progress.last_user, progress.turns, progress.messages, progress.ends_with_user) == (
        ("what is it?",),
        2,
        3,
        False,
    )
    assert progress.least_tokens == 10 + MESSAGE + count_text("what is it?")


def test_a_tool_result_in_a_user_message_is_no_user_message() -> None:
    progress = TranscriptProgress("anthropic")

    progress.add(
        [
            {"role": "user", "content": "what is it?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a stone"}]},
        ]
    )

    assert (progress.last_user, progress.turns, progress.ends_with_user, progress.open_calls) == (
        ("what is it?",),
        1,
        False,
        [],
    )


def test_the_fixed_parts_are_the_system_prompt_and_the_tools() -> None:
    assert fixed_tokens(None, []) == 0
    assert fixed_tokens("be brief", [{"a": 1}]) == count_system("be brief") + count_tools([{"a": 1}])
