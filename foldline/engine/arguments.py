"""Tool-call arguments: from JSON text to the object that formats with structured arguments send, and back."""

from __future__ import annotations

import json
from typing import Any, Final

from foldline.engine.wire import dumps_text, is_too_deep, loads_bounded

# Less than a whole body may have: what they become part of can be taken in again.
ARGUMENTS_DEPTH_MAX: Final = 128


def json_object(text: str) -> dict[str, Any] | None:
    """The object `text` denotes, none if it is anything else; no arguments at all are the empty object."""
    if not text or text.isspace():
        return {}
    try:
        value = loads_bounded(text, ARGUMENTS_DEPTH_MAX)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def json_text(value: Any) -> str | None:
    """`value` as compact JSON, none if it is nested too deeply or holds what JSON has no word for."""
    try:
        # orjson would write null for what JSON has no word for.
        json.dumps(value, allow_nan=False)
        text = dumps_text(value)
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(text, value) else text
