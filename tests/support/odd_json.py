"""Valid JSON as other programs may write it: with digits, escapes, key order and whitespace that is not ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import Any, Final

GAPS: Final = ("", "", "", " ", "\n  ", "\t", "\r\n")
NUMBERS: Final = (
    "1.50",
    "-0",
    "-0.0",
    "1E+2",
    "1e-7",
    "0.30000000000000004",
    "18446744073709551616",
    "-123456789012345678901234567890",
    "9007199254740993",
    "1.0",
)


@dataclass(frozen=True, slots=True)
class Digits:
    """A number as it is written."""

    digits: str


def a_number(random: Random) -> Digits:
    return Digits(random.choice(NUMBERS))


def written_oddly(value: Any, random: Random) -> bytes:
    """The value as JSON; the same bytes for the same state of `random`."""
    return _Writer(random).document(value).encode()


def _plain(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair can only be written as an escape.
        return json.dumps(text)
    return written


def _with_slashes(text: str) -> str:
    return json.dumps(text).replace("/", "\\/")


def _in_escapes(text: str) -> str:
    every = "".join(f"\\u{ord(char):04X}" for char in text)
    return f'"{every}"' if text.isascii() and len(text) < 12 else json.dumps(text)


STYLES: Final = (_plain, json.dumps, _with_slashes, _in_escapes)


class _Writer:
    """Its gaps and styles come round again, which is much faster than to choose each."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._gaps = cycle(random.choices(GAPS, k=31))
        self._styles = cycle(random.choices(STYLES, k=37))

    def document(self, value: Any) -> str:
        return next(self._gaps) + self._value(value) + next(self._gaps)

    def _value(self, value: Any) -> str:
        match value:
            case Digits():
                return value.digits
            case str():
                return self._text(value)
            case dict():
                names = list(value)
                self._random.shuffle(names)
                return f"{{{','.join([self._member(name, value[name]) for name in names])}{next(self._gaps)}}}"
            case list():
                return f"[{','.join([next(self._gaps) + self._value(item) for item in value])}]"
        return json.dumps(value)

    def _member(self, name: str, value: Any) -> str:
        before, after, then = next(self._gaps), next(self._gaps), next(self._gaps)
        return f"{before}{self._text(name)}{after}:{then}{self._value(value)}"

    def _text(self, text: str) -> str:
        return next(self._styles)(text)
