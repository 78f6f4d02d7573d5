"""Excerpts of providers' error messages."""

from __future__ import annotations

import pytest
from foldline_worker.summarizers.calls.provider_error import MOST_CHARS, excerpt_of

from foldline.engine.wire import dumps


def said(message: object, *sent: str, key: str | None = None) -> str:
    return excerpt_of(dumps({"error": {"message": message}}).decode(), sent, key)


def test_a_message_is_shown_on_one_line() -> None:
    assert said("The model `small`\n does not\x00 exist.") == "The model `small` does not exist."


def test_an_error_that_is_only_a_text_is_shown() -> None:
    assert excerpt_of('{"error": "model not found"}', (), None) == "model not found"


@pytest.mark.parametrize("body", ["", "<html>", "[]", "{}", '{"error": {}}', '{"error": {"message": 3}}'])
def test_a_body_without_a_message_shows_nothing(body: str) -> None:
    assert excerpt_of(body, (), None) == ""


def test_a_long_message_is_cut() -> None:
    shown = said("no such thing, " * 100)
    assert len(shown) == MOST_CHARS
    assert shown.endswith("…")


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcDEF_123",
        "sk-ab***********yz",
        "Bearer abc.def.ghi",
        "gsk_abcdefgh1",
        "0123456789abcdef0123456789abcdef",
        "my own",
    ],
)
def test_nothing_that_looks_like_a_key_is_shown(key: str) -> None:
    assert said(f"Incorrect key: {key} (see your account)", key="my own") == "Incorrect key: … (see your account)"


@pytest.mark.parametrize("name", ["max_completion_tokens", "claude-sonnet-4-5-20250929", "meta-llama/Llama-3.1-70B"])
def test_names_of_parameters_and_models_are_shown(name: str) -> None:
    assert said(f"unknown: {name}") == f"unknown: {name}"


@pytest.mark.parametrize("quotation", ["the  parser\nis called reader", "'hunter2'", "`名字`"])
def test_what_was_sent_is_not_shown(quotation: str) -> None:
    sent = ("Remember: the parser is called reader, its word is hunter2, 名字 too.",)
    assert said(f"Invalid value {quotation} at 3", *sent).replace(" ", "") == "Invalidvalue…at3"
