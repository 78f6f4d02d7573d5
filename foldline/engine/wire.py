"""Reading and writing JSON: with orjson, or with the standard library for lone surrogates and huge integers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

# Real requests are not deeper. Our recursive functions can go this deep on any Python, and so can orjson in an answer.
DEPTH_MAX: Final = 200
# orjson reads an integer of more than 64 bits as a float, which changes its value. All digits become zeros before the
# search for so many: that takes a tenth of the time of a regular expression.
ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
LONG_NUMBER: Final = b"0" * 19


class TooDeep(ValueError):
    """The JSON is nested deeper than the limit."""

    def __init__(self, levels: int) -> None:
        super().__init__(f"nested deeper than {levels} levels")


def dumps(value: Any) -> bytes:
    """The value as compact JSON; pure ASCII if it holds a lone surrogate."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def dumps_text(value: Any) -> str:
    """The value as compact JSON text; other than ASCII characters stay as they are."""
    return dumps(value).decode()


def loads(data: bytes | str) -> Any:
    """The value of a JSON text that Foldline wrote; for others' JSON use `loads_bounded`.

    Raises:
        ValueError: the text is not JSON; the message names the place.
    """
    if not _has_long_number(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
    return json.loads(data, parse_constant=_refused, parse_float=_finite)


def loads_bounded(data: bytes | str, levels: int = DEPTH_MAX) -> Any:
    """The value of a JSON text that others wrote, nested at most `levels` deep.

    Raises:
        TooDeep: it is nested deeper.
        ValueError: the text is not JSON; the message names the place.
    """
    try:
        value = loads(data)
    except RecursionError:
        raise TooDeep(levels) from None
    if is_too_deep(data, value, levels):
        raise TooDeep(levels)
    return value


def is_too_deep(data: bytes | str, value: Any, levels: int = DEPTH_MAX) -> bool:
    """Whether a value is nested deeper than `levels`; `data` is its JSON."""
    # Counting brackets is fast, and only a value with enough of them can be deep.
    brackets = data.count(b"{") + data.count(b"[") if isinstance(data, bytes) else data.count("{") + data.count("[")
    return brackets > levels and _is_deeper(value, levels)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value is deeper than `levels`. It goes level by level, since recursion could exhaust the stack."""
    inside = [value]
    for _ in range(levels):
        inside = [inner for item in inside for inner in _inside(item) if isinstance(inner, dict | list)]
        if not inside:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _has_long_number(data: bytes | str) -> bool:
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return LONG_NUMBER in encoded.translate(ZEROS)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if isfinite(value) else _refused(digits)


def _refused(name: str) -> NoReturn:
    # The standard library reads NaN, Infinity and numbers larger than any float. They could not be written again.
    message = f"{name} is no JSON value that can be kept"
    raise ValueError(message)
