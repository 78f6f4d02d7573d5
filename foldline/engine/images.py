"""Limits on images: the newest stay within a number and a size, and a line of text replaces each older one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar

from foldline.engine.messages import Image, Message, Part, Text

# Where an image is: the index of its message, and its index among the message's parts. In a tool message the second
# index is among the parts of the result.
Place: TypeAlias = tuple[int, int]

# The usual limits of providers for one request: bytes of base64, and a number of images.
MAX_IMAGE_BYTES: Final = 12 * 1024 * 1024
MAX_IMAGES: Final = 32

LEFT_OUT: Final = "[An older image is left out here: {what}.]"


def surplus_images(
    messages: Sequence[Message], max_bytes: int | None = MAX_IMAGE_BYTES, max_count: int | None = MAX_IMAGES
) -> list[Place]:
    """The places of the images to leave out, oldest first.

    The newest images stay while their base64 takes at most `max_bytes` together and their number is at most
    `max_count`; None is no limit. The first image that does not fit is left out, and so are all older ones: the kept
    images are the newest without a gap. An image given as a link has no bytes.
    """
    images = list(_images(messages))
    kept = taken = 0
    for _, image in reversed(images):
        taken += len(image.data or "")
        if _is_over(taken, max_bytes) or _is_over(kept + 1, max_count):
            break
        kept += 1
    return [place for place, _ in images[: len(images) - kept]]


def _is_over(amount: int, limit: int | None) -> bool:
    return limit is not None and amount > limit


def without_images(messages: Sequence[Message], places: Sequence[Place]) -> list[Message]:
    """The messages with a line of text in place of each of these images; `places` are in the order of the messages."""
    shown = list(messages)
    for index, group in groupby(places, key=itemgetter(0)):
        shown[index] = _without(shown[index], {position for _, position in group})
    return shown


def _images(messages: Sequence[Message]) -> Iterator[tuple[Place, Image]]:
    for index, message in enumerate(messages):
        for position, part in enumerate(_content(message)):
            if isinstance(part, Image):
                yield (index, position), part


def _content(message: Message) -> Sequence[Part]:
    return message.parts if message.result is None else message.result.content


def _without(message: Message, positions: set[int]) -> Message:
    result = message.result
    if result is None:
        return replace(message, parts=_replaced(message.parts, positions), source=None)
    content = _replaced(result.content, positions)
    return replace(message, parts=(replace(result, content=content, source=None),), source=None)


P = TypeVar("P")


def _replaced(parts: Sequence[P], positions: set[int]) -> tuple[P | Text, ...]:
    return tuple(
        _left_out(part) if index in positions and isinstance(part, Image) else part for index, part in enumerate(parts)
    )


def _left_out(image: Image) -> Text:
    size = f"{len(image.data) * 3 // 4:,} bytes" if image.data else "behind a link"
    return Text(LEFT_OUT.format(what=", ".join(filter(None, (image.media_type, size)))))
