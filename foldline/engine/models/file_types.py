"""The types of files, and the tokens that a file is expected to take by its type and size alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, NamedTuple


class Rate(NamedTuple):
    """How to compute tokens from a size: size × `text_factor` / `bytes_per_token`."""

    text_factor: float
    bytes_per_token: int = 4


# These are sent as pictures, transcripts or listings, so their size does not matter.
FLAT_TOKENS: Final[Mapping[str, int]] = MappingProxyType(
    {"video": 500, "audio": 300, "image": 1_500, "archive": 1_000, "unknown": 500}
)
# Text grows when it is quoted. Only a part of a document's bytes is text.
TEXT_RATE: Final = Rate(1.33)
RATES: Final[Mapping[str, Rate]] = MappingProxyType(
    {
        "pdf": Rate(1.0, bytes_per_token=100),
        "xlsx": Rate(0.15),
        "docx": Rate(0.15),
        "pptx": Rate(0.15),
        "svg": Rate(1.0),
    }
)
MOST_TOKENS: Final[Mapping[str, int]] = MappingProxyType({"pdf": 50_000})
# A name that ends in none of these, nor in a type with a rate, is that of a text.
ENDINGS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "video": frozenset({"mp4", "mov", "avi", "mkv", "webm"}),
        "audio": frozenset({"mp3", "wav", "ogg", "m4a", "flac", "aac"}),
        "image": frozenset({"png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff"}),
        "archive": frozenset({"zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar"}),
    }
)


def type_of(path: str) -> str:
    """The type of a file by the end of its name: a row of the tables above, or `text`."""
    ending = PurePosixPath(path).suffix[1:].lower()
    named = (kind for kind, endings in ENDINGS.items() if ending in endings)
    return ending if ending in RATES else next(named, "text")


def file_tokens(size_bytes: int, kind: str = "text") -> int:
    """The expected tokens of a file of this size; a type without a row in a table is treated as text."""
    if kind in FLAT_TOKENS:
        return FLAT_TOKENS[kind]
    rate = RATES.get(kind, TEXT_RATE)
    tokens = ceil(size_bytes * rate.text_factor / rate.bytes_per_token)
    return min(tokens, MOST_TOKENS.get(kind, tokens))
