"""Reads how many pixels the longest side of an image has, from the first bytes of its base64."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable
from functools import cache
from importlib import import_module
from io import BytesIO
from types import MappingProxyType
from typing import Final

UNKNOWN: Final = 0
# The longest side that a PNG may have, by its specification; a broken one may claim twice that.
LONGEST: Final = 2**31 - 1
# By what the bytes begin with: how many are read, a multiple of 3. A JPEG has its sides behind its profiles and
# previews; the others have them at their begin.
BYTES_READ: Final = MappingProxyType(
    {b"\x89PNG\r\n\x1a\n": 96, b"GIF8": 96, b"RIFF": 96, b"\xff\xd8\xff": 3 * 32 * 1024}
)


def longest_side(data: str | None) -> int:
    """The pixels of the longest side of a PNG, JPEG, GIF or WebP; `UNKNOWN` of all else, and where it is not found.

    `data` is base64, None for an image given as a link. However long it is, at most 96 KiB of the image are read.
    """
    start = _decoded(data or "", 12)
    known = next((number for begin, number in BYTES_READ.items() if start.startswith(begin)), 0)
    if not known:
        return UNKNOWN
    sides = _reader()(BytesIO(_decoded(data or "", known)), exif_rotation=False)
    return min(LONGEST, max(UNKNOWN, *sides))


def _decoded(data: str, number: int) -> bytes:
    """The first bytes of base64, none if it is not valid there."""
    try:
        return a2b_base64(data[: number // 3 * 4])
    except ValueError:
        return b""


@cache
def _reader() -> Callable[..., tuple[int, int]]:
    # On the first image: it brings parsers of XML and of HTTP along, which take longer than the rest of the library.
    reader: Callable[..., tuple[int, int]] = import_module("imagesize").get
    return reader
