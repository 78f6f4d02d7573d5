"""Counting as other systems do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from foldline.engine.tokens.estimates import ESTIMATES, context_count, utf8_bytes, utf16_units

ANY_TEXT = st.text(st.characters(), max_size=200)


@given(ANY_TEXT)
def test_lengths_are_those_of_the_encodings(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert utf8_bytes(text) == len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", ESTIMATES)
@given(text=ANY_TEXT)
def test_a_text_takes_nothing_only_if_there_is_little_of_it(name: str, text: str) -> None:
    tokens = ESTIMATES[name].text(text)
    assert tokens >= 0
    assert tokens > 0 or utf8_bytes(text) < 2


@given(st.lists(st.sampled_from(["`", "```", "{", "}", "word ", "é", "👩"]), max_size=14).map("".join))
def test_text_is_dense_if_most_of_it_is_in_fences_or_braces(text: str) -> None:
    units = utf16_units(text)
    code = sum(map(utf16_units, re.findall(r"```[\s\S]*?```|\{[\s\S]*?\}", text)))
    is_foreign = units - len(text.encode("ascii", "ignore")) > 0.3 * units
    assert ESTIMATES["codebuddy"].density(text) == (1.5 if is_foreign else 2.5 if code > 0.5 * units else 3.5)


@given(st.integers(0, 10_000), st.sampled_from(["anthropic", "openai", "mistral", None]))
def test_what_is_worth_so_many_tokens_takes_about_as_many(tokens: int, provider: str | None) -> None:
    estimate = ESTIMATES["neurolink"]
    chars = estimate.chars_for(tokens, provider)
    # Rounded up twice, on the way back.
    assert tokens - 2 <= estimate.text("a" * chars, provider) <= tokens + 3


def test_code_is_denser_where_it_is_distinguished() -> None:
    estimate = ESTIMATES["neurolink"]
    assert estimate.text("a" * 120, is_code=True) == 46
    assert estimate.text("a" * 120) == 35


def test_only_the_parts_a_system_counts_cost_anything() -> None:
    message = Message(
        "assistant",
        (
            Text("a" * 40),
            Thinking("b" * 40),
            ToolCall("c1", "Bash", '{ "command": "ls" }'),
            Image(url="http://x/y.png"),
        ),
    )
    assert ESTIMATES["chars4"].of_message(message) == 10
    assert ESTIMATES["neurolink"].of_message(message) == 4 + 12
    assert ESTIMATES["agent-code"].of_message(message) == 4 + 10 + 1 + 4 + 2000


def test_a_results_images_cost_what_images_do() -> None:
    result = Message("tool", (ToolResult("c1", (Text("a" * 8), Image(url="http://x/y.png"))),))
    assert ESTIMATES["agent-code"].of_message(result) == 4 + 2 + 2000


def test_arguments_that_are_no_object_are_measured_as_they_stand() -> None:
    broken = Message("assistant", (ToolCall("c1", "Bash", "{" + "a" * 15),))
    assert ESTIMATES["agent-code"].of_message(broken) == 4 + 1 + 4


def test_what_was_reported_last_replaces_the_estimates_before_it() -> None:
    assert context_count([10, 20, 30], {}) == (0, 60, None)
    assert context_count([10, 20, 30], {0: 500, 1: 700}) == (700, 30, 1)
    assert context_count([10, 20, 30], {0: 500, 1: 700}).tokens == 730


def test_lengths_are_joined_before_they_are_rounded() -> None:
    parts = (Thinking("a" * 5), Text("b" * 5), ToolCall("c1", "ls", '{ "a" : 1 }'))
    assert ESTIMATES["pi"].of_message(Message("assistant", parts)) == 5
    assert ESTIMATES["pi"].of_message(Message("user", (Text("a" * 5), Image(url="http://x/y.png")))) == 1_202
