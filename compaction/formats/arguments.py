"""Tool-call arguments: from JSON text to the object that formats with structured arguments send, and back."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from compaction.wire import dumps_text, loads

# Half of the depth at which orjson stops writing.
SAFE_DEPTH: Final = 128

_LONG_NUMBER = re.compile(r"\d{17}")
_NOT_JSON = re.compile(r"NaN|Infinity")


def json_object(text: str) -> dict[str, Any] | None:
    """The object `text` denotes, none if it is anything else; no arguments at all are the empty object."""
    if not text or text.isspace():
        return {}
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_writable(text, value) else None


def _loads(text: str) -> Any:
    # orjson reads integers beyond 64 bits as floats.
    return json.loads(text) if _LONG_NUMBER.search(text) else loads(text)


def _is_writable(text: str, value: Any) -> bool:
    if text.count("{") + text.count("[") <= SAFE_DEPTH and not _NOT_JSON.search(text):
        return True
    return json_text(value) is not None


def json_text(value: Any) -> str | None:
    """`value` as compact JSON, none if it is nested too deeply or holds what JSON has no word for."""
    try:
        json.dumps(value, allow_nan=False)
        return dumps_text(value)
    except (ValueError, RecursionError):
        return None
