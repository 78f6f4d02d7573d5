"""Answers that come in pieces are those that come whole, and nothing is made of pieces that no one knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.gateway.answers import streamed_answer, whole_answer
from foldline.engine.gateway.dialects import DIALECTS

Json = dict[str, Any]
ANTHROPIC, CHAT, RESPONSES = DIALECTS
TEXTS = st.text(max_size=12)
ARGUMENTS = st.dictionaries(TEXTS, st.integers(-9, 9) | TEXTS | st.booleans(), max_size=3)
CALLS = st.lists(ARGUMENTS, max_size=3)
SIZES = st.integers(1, 7)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def events_of_message(message: Json, size: int) -> list[Json]:
    """As Anthropic streams a message, in pieces of a size."""
    events: list[Json] = [{"type": "message_start", "message": {**message, "content": []}}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        name, kind = {"text": ("text", "text"), "thinking": ("thinking", "thinking")}.get(
            block["type"], ("partial_json", "input_json")
        )
        whole = json.dumps(block["input"]) if kind == "input_json" else block[name]
        start = {**block, "input": {}} if kind == "input_json" else {**block, name: "", **_without_signature(block)}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        deltas = [{"type": f"{kind}_delta", name: piece} for piece in cut(whole, size)]
        if "signature" in block:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    return [*events, ended, {"type": "message_stop"}]


def _without_signature(block: Json) -> Json:
    return {"signature": ""} if "signature" in block else {}


@given(TEXTS, TEXTS, CALLS, SIZES)
def test_a_message_in_pieces_is_the_whole_message(thought: str, text: str, calls: list[Json], size: int) -> None:
    uses = [{"type": "tool_use", "id": f"toolu_{at}", "name": "read", "input": given} for at, given in enumerate(calls)]
    thinking = {"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"}
    usage = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 3, "output_tokens": 9}
    message = {"content": [thinking, {"type": "text", "text": text}, *uses], "usage": usage}
    streamed = streamed_answer(ANTHROPIC, events_of_message(message, size))
    assert streamed == whole_answer(ANTHROPIC, message)
    assert streamed is not None
    assert (streamed.prompt_tokens, streamed.output_tokens) == (78, 9)


def chunks_of_completion(completion: Json, size: int, *, are_ids_repeated: bool) -> list[Json]:
    """As chat completions come in pieces of a size."""
    (choice,) = completion["choices"]
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content"):
        deltas += [{name: piece} for piece in cut(choice["message"].get(name) or "", size)]
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        function = call["function"]
        first = {"index": index, **call, "function": {**function, "arguments": ""}}
        later = {"index": index, "id": call["id"]} if are_ids_repeated else {"index": index}
        pieces = [{**later, "function": {"arguments": piece}} for piece in cut(function["arguments"], size)]
        deltas += [{"tool_calls": [piece]} for piece in (first, *pieces)]
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [*chunks, ended, {"choices": [], "usage": completion["usage"]}]


@given(thought=TEXTS, text=TEXTS, calls=CALLS, size=SIZES, are_ids_repeated=st.booleans())
def test_a_completion_in_pieces_is_the_whole_completion(
    thought: str, text: str, calls: list[Json], size: int, *, are_ids_repeated: bool
) -> None:
    made = [
        {"id": f"call_{at}", "type": "function", "function": {"name": "read", "arguments": json.dumps(given)}}
        for at, given in enumerate(calls)
    ]
    message: Json = {"role": "assistant", "content": text or None}
    message |= {"reasoning_content": thought} if thought else {}
    message |= {"tool_calls": made} if made else {}
    completion = {"choices": [{"message": message}], "usage": {"prompt_tokens": 80, "completion_tokens": 9}}
    chunks = chunks_of_completion(completion, size, are_ids_repeated=are_ids_repeated)
    streamed = streamed_answer(CHAT, chunks)
    assert streamed == whole_answer(CHAT, completion)
    assert streamed is not None
    assert (streamed.prompt_tokens, streamed.output_tokens) == (80, 9)


ITEM = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Read.", "annotations": []}],
}


@pytest.mark.parametrize("output", [[], [ITEM]])
def test_a_response_is_in_its_last_event_or_in_those_of_its_items(output: list[Json]) -> None:
    response = {"output": output, "usage": {"input_tokens": 80, "output_tokens": 9}}
    done = {"type": "response.output_item.done", "output_index": 0, "item": ITEM}
    streamed = streamed_answer(RESPONSES, [done, {"type": "response.completed", "response": response}])
    assert streamed == whole_answer(RESPONSES, {**response, "output": [ITEM]})


MESSAGE = {"content": [{"type": "text", "text": "Read."}], "usage": {"input_tokens": 5, "output_tokens": 9}}
COMPLETION = {"choices": [{"message": {"role": "assistant", "content": "Read."}}], "usage": {}}


def chunks_with(*calls: Json) -> list[Json]:
    return [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "stop"}]} for call in calls]


def with_delta(event: Json, delta: Json) -> Json:
    return {**event, "delta": delta}


@pytest.mark.parametrize(
    ("dialect", "events"),
    [
        (ANTHROPIC, events_of_message(MESSAGE, 3)[:-1]),
        (ANTHROPIC, [{"type": "error", "error": {"type": "overloaded_error"}}]),
        (ANTHROPIC, [with_delta(event, {"type": "new_delta"}) for event in events_of_message(MESSAGE, 3)]),
        (CHAT, chunks_of_completion(COMPLETION, 3, are_ids_repeated=False)[:2]),
        (CHAT, [{"choices": [{"index": 1, "delta": {"content": "Or."}, "finish_reason": "stop"}]}]),
        (CHAT, [{"choices": [{"index": 0, "delta": {"audio": {"id": "a"}}, "finish_reason": "stop"}]}]),
        (CHAT, [{"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}]),
        (CHAT, chunks_with({"index": 0, "id": "a", "function": {"name": "f"}, "extra_content": {"signed": "x"}})),
        (CHAT, chunks_with({"index": 0, "id": "a", "type": "custom", "custom": {"name": "f"}})),
        (CHAT, chunks_with({"index": 0, "id": "a"}, {"index": 0, "id": "b"})),
        (RESPONSES, [{"type": "response.failed", "response": {}}]),
        (RESPONSES, [7]),
    ],
)
def test_of_a_stream_that_did_not_end_or_is_not_known_nothing_is_made(dialect: Any, events: list[Any]) -> None:
    assert streamed_answer(dialect, events) is None


@pytest.mark.parametrize("body", [None, [], {}, {"content": 7}, {"choices": []}, {"choices": [{}, {}]}, {"output": 7}])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_of_what_is_no_answer_nothing_is_made(dialect: Any, body: Any) -> None:
    assert whole_answer(dialect, body) is None


def test_counts_of_an_answer_with_a_tool_of_the_provider_are_not_of_one_prompt() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = whole_answer(ANTHROPIC, {**MESSAGE, "content": [use, *MESSAGE["content"]]})
    assert answer is not None
    assert (answer.prompt_tokens, answer.output_tokens) == (0, 0)
