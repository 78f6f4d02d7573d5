"""Tool-call arguments as JSON text and as objects. Some formats send them as text, others as objects."""

from __future__ import annotations

import json
from typing import Any, Final

from foldline.engine.wire import dumps_text, has_more_values, is_too_deep, loads_bounded

# Lower than the limit of a request body, so that a body with these arguments in it can be read again.
ARGUMENTS_DEPTH_MAX: Final = 128
# They are read several times, and no other thread runs while a text is parsed.
ARGUMENTS_VALUES_MAX: Final = 100_000
# Longer ones are not read for facts and estimates. No model writes as much in one answer.
ARGUMENTS_CHARS_MAX: Final = 1 << 22

_NO_NUMBERS: Final = ("null", "NaN", "Infinity")


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object in `text`; None if the text is anything else, or too large. Empty text gives the empty object."""
    if not text or text.isspace():
        return {}
    if len(text) > ARGUMENTS_VALUES_MAX and has_more_values(_encoded(text), ARGUMENTS_VALUES_MAX):
        return None
    try:
        value = loads_bounded(text, ARGUMENTS_DEPTH_MAX)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def fields_of(arguments: str) -> dict[str, Any]:
    """The fields of a call's arguments, to find facts in them; none if they are no JSON object, or very long."""
    return {} if len(arguments) > ARGUMENTS_CHARS_MAX else json_object(arguments) or {}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def json_text(value: Any) -> str | None:
    """`value` as compact JSON; None if it is nested too deeply or holds a value that JSON cannot express."""
    try:
        text = dumps_text(value)
        # orjson writes null for NaN and infinity, the standard library their names. No other thread runs while that
        # looks for them.
        if any(name in text for name in _NO_NUMBERS):
            json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(text, value) else text
