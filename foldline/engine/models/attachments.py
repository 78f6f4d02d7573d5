"""Decides how much of each file goes along with a call: all of it, its head, a preview, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, Final, Literal, TypeAlias

from foldline.engine.errors import InvalidMessage
from foldline.engine.models.file_types import file_tokens, type_of
from foldline.engine.tokens.counter import MESSAGE, count_text
from foldline.engine.tokens.estimates import utf8_bytes

Action: TypeAlias = Literal["keep", "truncate", "preview", "exclude"]

PREVIEW_CHARS: Final = 2_000
SMALLEST_PREVIEW_TOKENS: Final = 64


@dataclass(frozen=True, slots=True)
class FileRules:
    """How a system treats the files of a call.

    All files together get `share` of what the rest of the call leaves. A file of which only the size is known takes a
    token for `bytes_per_token` UTF-8 bytes. A head below `truncate_share` of its file is only a preview, and so is that
    of a file above `preview_above_bytes`, if there is such a limit. With `is_by_type`, none of these three
    counts: files go along whole or not at all, and a file known by its size takes the tokens of its type.
    """

    share: float = 1.0
    # Nearly all text has more bytes per token.
    bytes_per_token: int = 3
    truncate_share: float = 0.25
    preview_above_bytes: int | None = None
    is_by_type: bool = False

    def tokens(self, path: str, size_bytes: int) -> int:
        """The expected tokens of a file of which only the size is known."""
        return file_tokens(size_bytes, type_of(path)) if self.is_by_type else ceil(size_bytes / self.bytes_per_token)


OWN_RULES: Final = FileRules()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is to go along with a call; `chars` is its length, or its size in bytes if only that is known."""

    path: str
    chars: int
    tokens: int
    size_bytes: int
    is_sized: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """How much of a file to send: its first `max_chars` characters, which take `tokens`."""

    path: str
    action: Action
    max_chars: int
    tokens: int


def attachment_of(value: Any, path: str, rules: FileRules = OWN_RULES) -> Attachment:
    """A file from `{path, content}` or `{path, size_bytes}`.

    Raises:
        InvalidMessage: it has neither of the two shapes; `path` is its place in the request.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("path"), str):
        raise InvalidMessage(path, "must be an object with a `path` and `content` or `size_bytes`")
    name, content, size = value["path"], value.get("content"), value.get("size_bytes")
    if isinstance(content, str):
        return Attachment(name, len(content), MESSAGE + count_text(content), utf8_bytes(content))
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise InvalidMessage(f"{path}.size_bytes", "must be a number of bytes, where there is no `content`")
    return Attachment(name, size, MESSAGE + rules.tokens(name, size), size, is_sized=True)


def files_budget(window_tokens: int, used_tokens: int, output_tokens: int, share: float) -> int:
    """Tokens that files may take: a share of the window without the used and the output tokens; never below 0."""
    return max(0, floor((window_tokens - used_tokens - output_tokens) * share))


def place_files(files: Sequence[Attachment], room_tokens: int, rules: FileRules = OWN_RULES) -> tuple[Placement, ...]:
    """How much of each file to send, in the order given; all files together take at most `room_tokens`.

    Each file gets an equal share of the room, and larger files also get what smaller ones leave. A file that fits its
    share is kept. A larger file is truncated, previewed if the rules say so, or excluded if the share is too small for
    a preview. Under rules `is_by_type`, files are kept whole, smallest first, as long as they fit.
    """
    if rules.is_by_type:
        taken = whole_files(files, room_tokens)
        return tuple(_kept(file) if index in taken else _excluded(file) for index, file in enumerate(files))
    placements: dict[int, Placement] = {}
    by_size = sorted(range(len(files)), key=lambda index: files[index].tokens)
    room = max(0, room_tokens)
    for done, index in enumerate(by_size):
        placed = _placement(files[index], room // (len(files) - done), rules)
        placements[index] = placed
        room -= placed.tokens
    return tuple(placements[index] for index in range(len(files)))


def whole_files(files: Sequence[Attachment], room_tokens: int) -> list[int]:
    """The indexes of the files that fit the room whole; they are tried one by one, smallest first."""
    taken = []
    for index in sorted(range(len(files)), key=lambda index: files[index].size_bytes):
        if files[index].tokens <= room_tokens:
            taken.append(index)
            room_tokens -= files[index].tokens
    return taken


def _kept(file: Attachment) -> Placement:
    return Placement(file.path, "keep", file.chars, file.tokens)


def _excluded(file: Attachment) -> Placement:
    return Placement(file.path, "exclude", 0, 0)


def _placement(file: Attachment, share_tokens: int, rules: FileRules) -> Placement:
    is_huge = rules.preview_above_bytes is not None and file.size_bytes > rules.preview_above_bytes
    if file.tokens <= share_tokens and not is_huge:
        return _kept(file)
    if share_tokens < SMALLEST_PREVIEW_TOKENS:
        return _excluded(file)
    chars = _chars_in(file, share_tokens, rules)
    if share_tokens >= file.tokens * rules.truncate_share and not is_huge:
        return Placement(file.path, "truncate", chars, share_tokens)
    chars = min(chars, PREVIEW_CHARS)
    tokens = chars / rules.bytes_per_token if file.is_sized else chars * file.tokens / file.chars
    return Placement(file.path, "preview", chars, MESSAGE + ceil(tokens))


def _chars_in(file: Attachment, tokens: int, rules: FileRules) -> int:
    """The characters of a file that take these tokens."""
    if file.is_sized:
        return (tokens - MESSAGE) * rules.bytes_per_token
    return file.chars * (tokens - MESSAGE) // file.tokens
