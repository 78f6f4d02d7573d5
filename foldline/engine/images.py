"""Images that go out of view so that only the newest ones stay, within a number and a size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar

from foldline.engine.messages import Image, Message, Part, Text

# Where an image is: the index of its message, and its index among the parts of that or, in a tool message, among what
# the result holds.
Place: TypeAlias = tuple[int, int]

# What providers take of one request as a rule: megabytes of base64, and a number of images.
MAX_IMAGE_BYTES: Final = 12 * 1024 * 1024
MAX_IMAGES: Final = 32

LEFT_OUT: Final = "[An older image is left out here: {what}.]"


def surplus_images(
    messages: Sequence[Message], max_bytes: int | None = MAX_IMAGE_BYTES, max_count: int | None = MAX_IMAGES
) -> list[Place]:
    """Where the images are that go out of view, oldest first.

    The newest ones stay as long as their base64 is within `max_bytes` together and their number within `max_count`;
    None is no limit. From the first that does not fit on, all older ones go, so that none is missing among those that
    stay. An image behind a link has no bytes.
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
    """The messages with a line of text in the place of each of these images, which are in the order of the messages."""
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
