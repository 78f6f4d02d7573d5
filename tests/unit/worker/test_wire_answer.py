"""Which parts of an endpoint's answer are kept."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from foldline_worker.summarizers.calls.endpoint import EndpointError, EndpointUnavailable, TooLong
from foldline_worker.summarizers.wires import WIRES
from foldline_worker.summarizers.wires.contract import MOST_NAME_CHARS, WireAnswer
from foldline_worker.summarizers.wires.openai_responses import OPENAI_RESPONSES


def test_an_answer_names_its_model() -> None:
    answer = WireAnswer()
    answer.note_model("openai/gpt-4o")
    answer.note_model(None)
    assert answer.model == "openai/gpt-4o"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a\nb", "a" * (MOST_NAME_CHARS + 1), "", None, 7, ["a"]])
def test_a_name_that_no_database_takes_is_as_good_as_none(name: object) -> None:
    answer = WireAnswer()
    answer.note_model(name)
    assert answer.model is None


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (
            {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."},
            TooLong,
        ),
        ({"code": "server_error", "message": "An error occurred."}, EndpointUnavailable),
    ],
    ids=["too long", "another"],
)
def test_an_error_among_the_events_of_a_response_is_read(error: dict[str, Any], meaning: type[Exception]) -> None:
    for event in (
        {"type": "error", **error, "param": None},
        {"type": "response.failed", "response": {"object": "response", "status": "failed", "error": error}},
    ):
        with pytest.raises(meaning):
            OPENAI_RESPONSES.take(WireAnswer(), event)


ODD: tuple[Any, ...] = (
    None,
    7,
    -1,
    10**400,
    True,
    "x",
    [],
    ["x"],
    [None],
    {},
    {"type": []},
    {"type": {}},
    [{"type": ["x"]}],
)
KEYS = (
    *("type", "choices", "delta", "message", "content", "content_block", "usage", "response", "output", "object"),
    *("status", "error", "candidates", "parts", "text", "usageMetadata", "promptFeedback", "finish_reason"),
    *("finishReason", "stop_reason", "incomplete_details", "model", "modelVersion"),
)


@pytest.mark.parametrize("wire", WIRES)
def test_an_event_of_any_shape_is_read_without_an_error_of_ours(wire: str) -> None:
    for key in KEYS:
        for value in ODD:
            for event in (
                {key: value},
                {"choices": [{key: value}]},
                {"candidates": [{key: value}]},
                {"message": {key: value}},
            ):
                answer = WireAnswer()
                with suppress(EndpointError):
                    WIRES[wire].take(answer, event)
                assert isinstance(answer.content, str)
                assert all(0 <= tokens < 1 << 60 for tokens in answer.usage.values())


@pytest.mark.parametrize(
    ("wire", "events", "expected"),
    [
        (
            "openai-chat",
            [{"usage": {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}}],
            {"input": 90, "output": 7, "cache_read": 64},
        ),
        ("openai-chat", [{"usage": {"prompt_tokens": 90, "prompt_tokens_details": None}}], {"input": 90}),
        (
            "openai-responses",
            [
                {
                    "type": "response.completed",
                    "response": {
                        "status": "completed",
                        "usage": {
                            "input_tokens": 90,
                            "output_tokens": 7,
                            "input_tokens_details": {"cached_tokens": 64},
                        },
                    },
                }
            ],
            {"input": 90, "output": 7, "cache_read": 64},
        ),
        (
            "anthropic",
            [
                {
                    "type": "message_start",
                    "message": {
                        "usage": {
                            "input_tokens": 10,
                            "cache_read_input_tokens": 64,
                            "cache_creation_input_tokens": 16,
                            "output_tokens": 1,
                        }
                    },
                },
                {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}},
            ],
            {"input": 90, "output": 7, "cache_read": 64, "cache_write": 16},
        ),
        (
            "anthropic",
            [{"type": "message", "usage": {"input_tokens": 10, "output_tokens": 7}}],
            {"input": 10, "output": 7},
        ),
        (
            "gemini",
            [{"usageMetadata": {"promptTokenCount": 90, "candidatesTokenCount": 7, "cachedContentTokenCount": 64}}],
            {"input": 90, "output": 7, "cache_read": 64},
        ),
    ],
)
def test_the_input_is_all_of_the_prompt_whatever_was_cached(
    wire: str, events: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    answer = WireAnswer()
    for event in events:
        WIRES[wire].take(answer, event)
    assert answer.usage == expected


def test_gemini_leaves_out_what_was_not_in_its_cache() -> None:
    answer = WireAnswer()
    WIRES["gemini"].take(answer, {"usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 20}})
    assert answer.usage == {"input": 900, "output": 20, "cache_read": 0}


def test_a_later_event_of_anthropic_may_repeat_one_part_of_the_input() -> None:
    answer = WireAnswer()
    usage = {"input_tokens": 20, "cache_read_input_tokens": 20_000, "cache_creation_input_tokens": 5}
    WIRES["anthropic"].take(answer, {"type": "message_start", "message": {"usage": usage}})
    WIRES["anthropic"].take(answer, {"type": "message_delta", "usage": {"input_tokens": 20, "output_tokens": 7}})
    assert answer.usage == {"input": 20_025, "output": 7, "cache_read": 20_000, "cache_write": 5}
