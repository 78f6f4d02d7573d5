"""How many images messages have and how large they are, and a line of text in the place of those that are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias, TypeVar

from foldline.engine.images.sides import UNKNOWN, longest_side
from foldline.engine.messages import Image, Message, Part, Text

# Where an image is: the index of its message, and its index among the message's parts. In a tool message the second
# index is among the parts of the result.
Place: TypeAlias = tuple[int, int]

# The usual limits of providers for one request: bytes of base64, and a number of images.
MAX_IMAGE_BYTES: Final = 12 * 1024 * 1024
MAX_IMAGES: Final = 32

LEFT_OUT: Final = "[An older image is left out here: {what}.]"


class ImageSize(NamedTuple):
    """The bytes of an image's base64, 0 for one given as a link, and the pixels of its longest side, if known."""

    bytes: int
    side: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Images:
    """A number of images, the bytes of their base64 together, and the longest side of any of them in pixels."""

    count: int = 0
    bytes: int = 0
    side: int = UNKNOWN

    def adding(self, sizes: Iterable[ImageSize]) -> Images:
        """These and more images."""
        count, total, side = self.count, self.bytes, self.side
        for size in sizes:
            count, total, side = count + 1, total + size.bytes, max(side, size.side)
        return Images(count, total, side)


NO_IMAGES: Final = Images()


def image_sizes(message: Message) -> tuple[ImageSize, ...]:
    """The size of each image of a message, or of the result in it, in order."""
    images = [part for part in _content(message) if isinstance(part, Image)]
    return tuple([ImageSize(_size(image), longest_side(image.data)) for image in images]) if images else ()


def with_texts(message: Message, texts: Mapping[int, str]) -> Message:
    """The message with a text in the place of some of its images, by their number among them from 0 on."""
    if not texts:
        return message
    places = [index for index, part in enumerate(_content(message)) if isinstance(part, Image)]
    lines = {places[number]: text for number, text in texts.items()}
    return _replacing(message, lambda index, _image: Text(lines[index]) if index in lines else None)


def _size(image: Image) -> int:
    return len(image.data or "")


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
        taken += _size(image)
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
    return _replacing(message, lambda index, image: _left_out(image) if index in positions else None)


# The text in the place of the image at an index among the parts, None if it stays.
TextFor: TypeAlias = Callable[[int, Image], Text | None]


def _replacing(message: Message, text_for: TextFor) -> Message:
    result = message.result
    if result is None:
        return replace(message, parts=_replaced(message.parts, text_for), source=None)
    content = _replaced(result.content, text_for)
    return replace(message, parts=(replace(result, content=content, source=None),), source=None)


P = TypeVar("P")


def _replaced(parts: Sequence[P], text_for: TextFor) -> tuple[P | Text, ...]:
    return tuple(
        (text_for(index, part) if isinstance(part, Image) else None) or part for index, part in enumerate(parts)
    )


def _left_out(image: Image) -> Text:
    size = f"{len(image.data) * 3 // 4:,} bytes" if image.data else "behind a link"
    return Text(LEFT_OUT.format(what=", ".join(filter(None, (image.media_type, size)))))
