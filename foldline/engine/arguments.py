"""Tool-call arguments as JSON text and as objects. Some formats send them as text, others as objects."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from foldline.engine.wire import dumps_text, has_more_values, is_too_deep, loads_bounded

# Lower than the limit of a request body, so that a body with these arguments in it can be read again.
ARGUMENTS_DEPTH_MAX: Final = 128
# They are read several times, and no other thread runs while a text is parsed. No model writes as much in an answer.
ARGUMENTS_VALUES_MAX: Final = 100_000
ARGUMENTS_CHARS_MAX: Final = 1 << 22


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object in `text`; None if the text is anything else, or too large. Empty text gives the empty object."""
    if not text or text.isspace():
        return {}
    if _is_too_large(text):
        return None
    try:
        value = loads_bounded(text, ARGUMENTS_DEPTH_MAX)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _is_too_large(text: str) -> bool:
    return len(text) > ARGUMENTS_CHARS_MAX or (
        len(text) > ARGUMENTS_VALUES_MAX
        and has_more_values(text.encode("utf-8", "surrogatepass"), ARGUMENTS_VALUES_MAX)
    )


def json_text(value: Any) -> str | None:
    """`value` as compact JSON; None if it is nested too deeply or holds a value that JSON cannot express."""
    try:
        text = dumps_text(value)
    except (ValueError, RecursionError):
        return None
    # orjson writes null for NaN and infinity.
    if is_too_deep(text, value) or ("null" in text and not _is_finite(value)):
        return None
    return text


def _is_finite(value: Any) -> bool:
    """Whether each number in a value is finite. Other threads run meanwhile, as they would not in a JSON encoder."""
    inside = [value]
    while inside:
        if not all(isfinite(item) for item in inside if isinstance(item, float)):
            return False
        containers = (item for item in inside if isinstance(item, list | tuple | dict))
        inside = [inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)]
    return True
