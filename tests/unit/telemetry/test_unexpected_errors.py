"""What is logged of an unexpected error, and that it does not leave a contained block."""

from __future__ import annotations

import pytest

from foldline.telemetry.logs import Contained, describe


def fail_with(message: str) -> None:
    raise LookupError(message)


def test_a_description_names_kind_and_place_and_never_the_message() -> None:
    with pytest.raises(LookupError) as caught:
        fail_with("what the user said")
    text = describe(caught.value)
    assert text.startswith("LookupError at test_unexpected_errors.py:")
    assert " in fail_with < test_unexpected_errors.py:" in text
    assert "what the user said" not in text


def test_an_error_that_was_never_raised_is_named() -> None:
    assert describe(LookupError("x")) == "LookupError"


def test_a_contained_error_goes_to_its_handler() -> None:
    seen: list[Exception] = []
    with Contained(seen.append):
        fail_with("x")
    assert [type(error) for error in seen] == [LookupError]


def test_an_interrupt_is_not_contained() -> None:
    seen: list[Exception] = []
    with pytest.raises(KeyboardInterrupt), Contained(seen.append):
        raise KeyboardInterrupt
    assert seen == []
