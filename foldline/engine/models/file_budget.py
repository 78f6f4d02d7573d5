"""What files may take of a window by their sizes and types alone; what of each is sent is placed in `attachments`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.models.attachments import PREVIEW_CHARS, Action

# The share of the tokens left over that files may take; the rest is for the conversation to go on.
FILES_SHARE: Final = 0.6
# A larger file is only ever previewed.
PREVIEW_ABOVE_BYTES: Final = 5 * 1024 * 1024
CHARS_PER_TOKEN: Final = 4


class SizedFile(NamedTuple):
    """A file of which only the size and the type are known; a type that no table names is text."""

    size_bytes: int
    kind: str = "text"


class Allowance(NamedTuple):
    """What to send of a file: its first `max_chars` characters, or all of it where that is None."""

    action: Action
    max_chars: int | None = None


class FileSelection(NamedTuple):
    """Which files go along and which do not, as indexes of the list given, smallest file first."""

    included: tuple[int, ...]
    excluded: tuple[int, ...]


class Rate(NamedTuple):
    """How tokens follow from a size: the part of it that is text, as a factor, and how many bytes of that are one."""

    text_factor: float
    bytes_per_token: int = 4


# Sent as pictures, transcripts or listings, whatever their size.
FLAT_TOKENS: Final[Mapping[str, int]] = MappingProxyType(
    {"video": 500, "audio": 300, "image": 1_500, "archive": 1_000, "unknown": 500}
)
# Text grows by what it is quoted in; of a document's bytes only some are text.
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


def files_budget(window_tokens: int, used_tokens: int, output_tokens: int, share: float = FILES_SHARE) -> int:
    """Tokens that files may take of a window, beside what is used and what is kept for the answer; never below 0."""
    return max(0, floor((window_tokens - used_tokens - output_tokens) * share))


def allowance(size_bytes: int, budget_tokens: int) -> Allowance:
    """What to send of a file of this size so that it stays within its budget, at four characters a token.

    Small files are held to it like others: many small ones fill a window too.
    """
    budget_chars = max(0, budget_tokens) * CHARS_PER_TOKEN
    if size_bytes <= min(budget_chars, PREVIEW_ABOVE_BYTES):
        return Allowance("keep")
    if not budget_chars:
        return Allowance("exclude", 0)
    if size_bytes > PREVIEW_ABOVE_BYTES:
        return Allowance("preview", min(PREVIEW_CHARS, budget_chars))
    return Allowance("truncate", budget_chars)


def file_tokens(file: SizedFile) -> int:
    """Tokens that a file is expected to take, by its type."""
    if file.kind in FLAT_TOKENS:
        return FLAT_TOKENS[file.kind]
    rate = RATES.get(file.kind, TEXT_RATE)
    tokens = ceil(file.size_bytes * rate.text_factor / rate.bytes_per_token)
    return min(tokens, MOST_TOKENS.get(file.kind, tokens))


def select_files(files: Sequence[SizedFile], available_tokens: int, share: float = FILES_SHARE) -> FileSelection:
    """The files that fit whole into the files' share of what is available, each taken if it fits, smallest first."""
    room = floor(available_tokens * share)
    included, excluded = [], []
    for index in sorted(range(len(files)), key=lambda index: files[index].size_bytes):
        tokens = file_tokens(files[index])
        if tokens <= room:
            included.append(index)
            room -= tokens
        else:
            excluded.append(index)
    return FileSelection(tuple(included), tuple(excluded))
