"""Reading and writing JSON: with orjson, or with the standard library for lone surrogates and huge integers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

# Real requests are not deeper. Our recursive functions can go this deep on any Python, and so can orjson in an answer.
DEPTH_MAX: Final = 200
# orjson reads an integer of more than 64 bits as a float, which changes its value. All digits become zeros before the
# search for so many: that takes a tenth of the time of a regular expression.
ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
LONG_NUMBER: Final = b"0" * 19
# Of so many digits in a row, these are among every fourth byte. To look at those first takes half of the time.
SAMPLED: Final = 4
SAMPLE: Final = b"0" * (len(LONG_NUMBER) // SAMPLED)
# Values are counted in pieces of so many bytes, between which other threads run.
PIECE_BYTES: Final = 1 << 16
# What JSON is nested in.
_NESTING: Final = frozenset({dict, list})


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


def has_more_values(data: bytes, most: int) -> bool:
    """Whether a JSON text has more than `most` values: items of arrays and members of objects, at any depth.

    It takes the memory of one piece, and time in proportion to the text. Text that is not UTF-8 may count as more.
    """
    # A value takes two bytes at least: itself, and a comma or a bracket.
    if len(data) <= 2 * most or _openings(data) <= most:
        return False
    # In UTF-16 and UTF-32, which JSON may come in, a character of a text can look like its end.
    if b"\0" in data:
        return True
    found = 0
    for piece in _outside_strings(data):
        found += _openings(piece)
        if found > most:
            return True
    return False


def _openings(data: bytes) -> int:
    """The places where a value begins, one for an empty array or object; those within strings count too."""
    return data.count(b",") + data.count(b"{") + data.count(b"[")


def _outside_strings(data: bytes) -> Iterator[bytes]:
    """What is not in strings, piece by piece."""
    is_inside, carried = False, b""
    for start in range(0, len(data), PIECE_BYTES):
        piece = carried + data[start : start + PIECE_BYTES]
        # A last backslash belongs to the character after it.
        is_cut = (len(piece) - len(piece.rstrip(b"\\"))) % 2
        carried, piece = piece[len(piece) - is_cut :], piece[: len(piece) - is_cut]
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0


def is_too_deep(data: bytes | str, value: Any, levels: int = DEPTH_MAX) -> bool:
    """Whether a value is nested deeper than `levels`; `data` is its JSON."""
    return len(data) > 2 * levels and _is_deeper(value, levels)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value is deeper than `levels`. It goes level by level, since recursion could exhaust the stack."""
    inside = [value]
    for _ in range(levels):
        # This looks at each value of a request: types are compared as that takes half of the time of `isinstance`.
        inside = [
            inner
            for item in inside
            if (kind := type(item)) is dict or kind is list
            for inner in (item.values() if kind is dict else item)
            if type(inner) in _NESTING
        ]
        if not inside:
            return False
    return True


def _has_long_number(data: bytes | str) -> bool:
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return SAMPLE in encoded[::SAMPLED].translate(ZEROS) and LONG_NUMBER in encoded.translate(ZEROS)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if isfinite(value) else _refused(digits)


def _refused(name: str) -> NoReturn:
    # The standard library reads NaN, Infinity and numbers larger than any float. They could not be written again.
    message = f"{name} is no JSON value that can be kept"
    raise ValueError(message)
