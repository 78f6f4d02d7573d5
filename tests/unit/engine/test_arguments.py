from __future__ import annotations

import pytest

from foldline.engine.arguments import ARGUMENTS_CHARS_MAX, ARGUMENTS_VALUES_MAX, json_object


@pytest.mark.parametrize(
    ("text", "value"), [("", {}), (" \n", {}), ('{"a":[1]}', {"a": [1]}), ("[1]", None), ("{", None)]
)
def test_arguments_are_a_json_object_or_nothing(text: str, value: object) -> None:
    assert json_object(text) == value


@pytest.mark.parametrize("size", [ARGUMENTS_CHARS_MAX, ARGUMENTS_CHARS_MAX + 1])
def test_arguments_of_too_many_characters_are_not_read(size: int) -> None:
    text = '{"a":"' + "x" * (size - len('{"a":""}')) + '"}'
    assert len(text) == size
    assert (json_object(text) is not None) is (size <= ARGUMENTS_CHARS_MAX)


@pytest.mark.parametrize("values", [ARGUMENTS_VALUES_MAX, ARGUMENTS_VALUES_MAX + 1])
def test_arguments_of_too_many_values_are_not_read(values: int) -> None:
    text = ('{"a":[' + ",".join("1" * (values - 1)) + "]}").ljust(ARGUMENTS_VALUES_MAX * 2 + 10)
    assert (json_object(text) is not None) is (values <= ARGUMENTS_VALUES_MAX)
