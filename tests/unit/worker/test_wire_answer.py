"""Which parts of an endpoint's answer are kept."""

from __future__ import annotations

import pytest
from foldline_worker.summarizers.wires.contract import MOST_NAME_CHARS, WireAnswer


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
