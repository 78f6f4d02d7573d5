from __future__ import annotations

from math import inf, nan

import pytest

from foldline.engine.arguments import ARGUMENTS_CHARS_MAX, ARGUMENTS_VALUES_MAX, fields_of, json_object, json_text


@pytest.mark.parametrize(
    ("text", "value"), [("", {}), (" \n", {}), ('{"a":[1]}', {"a": [1]}), ("[1]", None), ("{", None)]
)
def test_arguments_are_a_json_object_or_nothing(text: str, value: dict[str, object] | None) -> None:
    assert json_object(text) == value
    assert fields_of(text) == (value or {})


@pytest.mark.parametrize("size", [ARGUMENTS_CHARS_MAX, ARGUMENTS_CHARS_MAX + 1])
def test_very_long_arguments_are_an_object_without_fields_for_facts(size: int) -> None:
    text = '{"a":"' + "x" * (size - len('{"a":""}')) + '"}'
    assert len(text) == size
    assert json_object(text) is not None
    assert bool(fields_of(text)) is (size <= ARGUMENTS_CHARS_MAX)


@pytest.mark.parametrize("values", [ARGUMENTS_VALUES_MAX, ARGUMENTS_VALUES_MAX + 1])
def test_arguments_of_too_many_values_are_not_read(values: int) -> None:
    text = ('{"a":[' + ",".join("1" * (values - 1)) + "]}").ljust(ARGUMENTS_VALUES_MAX * 2 + 10)
    assert (json_object(text) is not None) is (values <= ARGUMENTS_VALUES_MAX)


@pytest.mark.parametrize("text", ["null", "NaN", "Infinity", "\ud800"])
def test_what_json_cannot_express_has_no_text(text: str) -> None:
    assert json_text({"a": None, "b": text}) is not None
    for number in (nan, inf, -inf):
        assert json_text({"a": [number], "b": text}) is None
