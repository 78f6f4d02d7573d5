"""JSON in and out: orjson, and the standard library where orjson refuses lone surrogates or huge integers."""

from __future__ import annotations

import json
from typing import Any

import orjson


def dumps(value: Any) -> bytes:
    """Compact JSON; pure ASCII when the value holds a lone surrogate."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def dumps_text(value: Any) -> str:
    """`dumps` as text, non-ASCII characters kept."""
    return dumps(value).decode()


def loads(data: bytes | str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: not JSON; the message says where.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data, parse_constant=_refused)


def _refused(name: str) -> None:
    # The standard library reads NaN and Infinity, which are no JSON and could not be written again.
    message = f"{name} is no JSON value"
    raise ValueError(message)
