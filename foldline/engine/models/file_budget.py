"""The room of files in a window, by their sizes and types alone; `attachments` decides it by their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.models.attachments import PREVIEW_CHARS, Action

# The share of the free tokens that files may take; the rest is for the conversation.
FILES_SHARE: Final = 0.6
# A larger file is only ever previewed.
PREVIEW_ABOVE_BYTES: Final = 5 * 1024 * 1024
CHARS_PER_TOKEN: Final = 4


class SizedFile(NamedTuple):
    """A file by its size and type; a type without a row in a table is treated as text."""

    size_bytes: int
    kind: str = "text"


class Allowance(NamedTuple):
    """How much of a file to send: its first `max_chars` characters, or all of it if that is None."""

    action: Action
    max_chars: int | None = None


class FileSelection(NamedTuple):
    """The files to send and the files to leave out, as indexes of the given list, smallest file first."""

    included: tuple[int, ...]
    excluded: tuple[int, ...]


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


def files_budget(window_tokens: int, used_tokens: int, output_tokens: int, share: float = FILES_SHARE) -> int:
    """Tokens that files may take: a share of the window without the used and the output tokens; never below 0."""
    return max(0, floor((window_tokens - used_tokens - output_tokens) * share))


def allowance(size_bytes: int, budget_tokens: int) -> Allowance:
    """How much of a file of this size to send so that it stays within its budget, at four characters a token.

    Small files are limited as well, since many of them would fill a window.
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
    """The expected tokens of a file, by its type and size."""
    if file.kind in FLAT_TOKENS:
        return FLAT_TOKENS[file.kind]
    rate = RATES.get(file.kind, TEXT_RATE)
    tokens = ceil(file.size_bytes * rate.text_factor / rate.bytes_per_token)
    return min(tokens, MOST_TOKENS.get(file.kind, tokens))


def select_files(files: Sequence[SizedFile], available_tokens: int, share: float = FILES_SHARE) -> FileSelection:
    """The files that fit whole into a share of the available tokens; they are tried one by one, smallest first."""
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
