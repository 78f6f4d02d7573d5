"""Masking of any conversation removes all secrets and nothing else, and masking again changes nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from foldline_worker.summarizers.masking import mask, mask_arguments, masked
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.summaries.prompt import SummaryInput
from tests.support.conversations import texts as ordinary_texts
from tests.support.conversations import transcripts
from tests.support.made_up_secrets import EXAMPLES, HARMLESS, Example

# Parts of secrets, placeholders and quotations, joined in any order.
PIECES = (
    *(example.before for example in EXAMPLES.values() if example.before),
    *(example.text[: len(example.text) * 2 // 3] for example in EXAMPLES.values()),
    "[secret removed: ", "credential]", "[secret removed: github token]", "password=", "://", "@", '"', "\\", "\\n",
    "\n", " ", ": ", "-----", "-----BEGIN " + "PRIVATE KEY-----", "\ud800", "😀", "hunter22",
)  # fmt: skip

examples = st.sampled_from(list(EXAMPLES.values()))
harmless_lines = st.sampled_from(HARMLESS) | ordinary_texts(200).filter(lambda text: "=" not in text)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | examples.map(lambda example: example.text),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=200))
def test_masking_again_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


@given(st.lists(harmless_lines | examples, max_size=12))
def test_no_secret_is_left_and_every_line_without_one_is(said: list[str | Example]) -> None:
    text = "\n".join(line if isinstance(line, str) else line.text for line in said)
    expected = "\n".join(line if isinstance(line, str) else line.masked for line in said)
    assert _of_any_kind(mask(text)) == _of_any_kind(expected)


@given(transcripts(6))
def test_a_conversation_without_a_secret_is_the_same(messages: list[Any]) -> None:
    request = SummaryInput(("earlier",), tuple(messages), 500, "be brief")
    assert masked(request) == request


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=5), st.sampled_from((None, 1)))
def test_arguments_stay_json_of_the_same_shape_without_a_secret(value: dict[str, Any], indent: int | None) -> None:
    arguments = json.dumps(value, indent=indent)
    without = mask_arguments(arguments)
    assert _shape(json.loads(without)) == _shape(value)
    assert not any(json.dumps(example.secret)[1:-1] in without for example in EXAMPLES.values())
    assert mask_arguments(without) == without


def _of_any_kind(text: str) -> str:
    """The text with placeholders that name no kind, since the text near a secret may make it look like another kind."""
    return re.sub(r"\[secret removed: [a-z0-9 ]+\]", "[secret removed]", text)


def _shape(value: Any) -> Any:
    """The value with every string replaced by the same one."""
    if isinstance(value, list):
        return [_shape(item) for item in value]
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    return "text" if isinstance(value, str) else value
