"""Beginnings of images: enough to read their sides from."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

HEADER_CHARS: Final = 16


def picture(side: int, size: int = 32, number: int = 0) -> str:
    """The base64 of a GIF that is `side` pixels wide, in `size` characters; a number follows the header."""
    header = b"GIF89a" + side.to_bytes(2, "little") + b"\1\0\0\0"
    return (b64encode(header).decode() + f"{number:08}").ljust(size, "A")
