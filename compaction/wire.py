"""JSON in and out: orjson, and the standard library where orjson refuses lone surrogates or huge integers."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

# orjson reads an integer of more than 64 bits as a float, and so as another number.
LONG_NUMBER: Final = re.compile(rb"\d{19}")
LONG_NUMBER_TEXT: Final = re.compile(r"\d{19}")


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
    if not _has_long_number(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
    return json.loads(data, parse_constant=_refused)


def _has_long_number(data: bytes | str) -> bool:
    return bool(LONG_NUMBER.search(data) if isinstance(data, bytes) else LONG_NUMBER_TEXT.search(data))


def _refused(name: str) -> None:
    # The standard library reads NaN and Infinity, which are no JSON and could not be written again.
    message = f"{name} is no JSON value"
    raise ValueError(message)
