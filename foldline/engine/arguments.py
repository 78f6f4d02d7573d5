"""Tool-call arguments as JSON text and as objects. Some formats send them as text, others as objects."""

from __future__ import annotations

import json
from typing import Any, Final

from foldline.engine.wire import dumps_text, is_too_deep, loads_bounded

# Lower than the limit of a request body, so that a body with these arguments in it can be read again.
ARGUMENTS_DEPTH_MAX: Final = 128


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object in `text`; None if the text is anything else. Empty text gives the empty object."""
    if not text or text.isspace():
        return {}
    try:
        value = loads_bounded(text, ARGUMENTS_DEPTH_MAX)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def json_text(value: Any) -> str | None:
    """`value` as compact JSON; None if it is nested too deeply or holds a value that JSON cannot express."""
    try:
        # orjson would write null for NaN and infinity.
        json.dumps(value, allow_nan=False)
        text = dumps_text(value)
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(text, value) else text
