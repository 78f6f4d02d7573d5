"""Decides how much of each file goes along with a call: all of it, its head, a preview, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Literal, TypeAlias

from foldline.engine.errors import InvalidMessage
from foldline.engine.tokens.counter import MESSAGE, count_text

Action: TypeAlias = Literal["keep", "truncate", "preview", "exclude"]

# UTF-8 bytes per token if only the size is known. Nearly all text has more bytes per token.
BYTES_PER_TOKEN: Final = 3
# A head below this share of its file is only a preview.
TRUNCATE_SHARE: Final = 0.25
PREVIEW_CHARS: Final = 2_000
SMALLEST_PREVIEW_TOKENS: Final = 64


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is to go along with a call; `chars` is its length, or its size in bytes if only that is known."""

    path: str
    chars: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Placement:
    """How much of a file to send: its first `max_chars` characters, which take `tokens`."""

    path: str
    action: Action
    max_chars: int
    tokens: int


def attachment_of(value: Any, path: str) -> Attachment:
    """A file from `{path, content}` or `{path, size_bytes}`.

    Raises:
        InvalidMessage: it has neither of the two shapes; `path` is its place in the request.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("path"), str):
        raise InvalidMessage(path, "must be an object with a `path` and `content` or `size_bytes`")
    content, size = value.get("content"), value.get("size_bytes")
    if isinstance(content, str):
        return Attachment(value["path"], len(content), MESSAGE + count_text(content))
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise InvalidMessage(f"{path}.size_bytes", "must be a number of bytes, where there is no `content`")
    return Attachment(value["path"], size, MESSAGE + ceil(size / BYTES_PER_TOKEN))


def place_files(files: Sequence[Attachment], room_tokens: int) -> tuple[Placement, ...]:
    """How much of each file to send, in the order given; all files together take at most `room_tokens`.

    Each file gets an equal share of the room, and larger files also get what smaller ones leave. A file that fits its
    share is kept. A larger file is truncated, previewed if its share is less than a quarter of it, or excluded if the
    share is too small for a preview.
    """
    placements: dict[int, Placement] = {}
    by_size = sorted(range(len(files)), key=lambda index: files[index].tokens)
    room = max(0, room_tokens)
    for done, index in enumerate(by_size):
        placed = _placement(files[index], room // (len(files) - done))
        placements[index] = placed
        room -= placed.tokens
    return tuple(placements[index] for index in range(len(files)))


def _placement(file: Attachment, share_tokens: int) -> Placement:
    if file.tokens <= share_tokens:
        return Placement(file.path, "keep", file.chars, file.tokens)
    if share_tokens < SMALLEST_PREVIEW_TOKENS:
        return Placement(file.path, "exclude", 0, 0)
    chars = file.chars * (share_tokens - MESSAGE) // file.tokens
    if share_tokens >= file.tokens * TRUNCATE_SHARE:
        return Placement(file.path, "truncate", chars, share_tokens)
    chars = min(chars, PREVIEW_CHARS)
    return Placement(file.path, "preview", chars, MESSAGE + ceil(chars * file.tokens / file.chars))
