"""Images in a view: how many and how large they are, and a line of text in the place of those that are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Images:
    """A number of images, and the bytes of their base64 together; an image given as a link has none."""

    count: int = 0
    bytes: int = 0

    def exceeds(self, most: Images) -> bool:
        """Whether these are more, or larger together."""
        return self.count > most.count or self.bytes > most.bytes

    def adding(self, sizes: Sequence[int]) -> Images:
        """These and more images, of so many bytes each."""
        return Images(self.count + len(sizes), self.bytes + sum(sizes))

    def share(self, share: float) -> Images:
        """A share of both, rounded down."""
        return Images(int(self.count * share), int(self.bytes * share))


NO_IMAGES: Final = Images()


def image_sizes(message: Message) -> tuple[int, ...]:
    """The bytes of each image of a message, or of the result in it, in order."""
    return tuple(_size(part) for part in _content(message) if isinstance(part, Image))


def without_first(message: Message, number: int, text: str) -> Message:
    """The message with this text in the place of each of its first images."""
    places = [index for index, part in enumerate(_content(message)) if isinstance(part, Image)][:number]
    return _replacing(message, {*places}, lambda _image: Text(text))


def without_larger(message: Message, most_bytes: int, text: str) -> Message:
    """The message with this text in the place of each image that is larger."""
    found = enumerate(_content(message))
    places = {index for index, part in found if isinstance(part, Image) and _size(part) > most_bytes}
    return _replacing(message, places, lambda _image: Text(text)) if places else message


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
    return _replacing(message, positions, _left_out)


def _replacing(message: Message, positions: set[int], text_for: Callable[[Image], Text]) -> Message:
    result = message.result
    if result is None:
        return replace(message, parts=_replaced(message.parts, positions, text_for), source=None)
    content = _replaced(result.content, positions, text_for)
    return replace(message, parts=(replace(result, content=content, source=None),), source=None)


P = TypeVar("P")


def _replaced(parts: Sequence[P], positions: set[int], text_for: Callable[[Image], Text]) -> tuple[P | Text, ...]:
    return tuple(
        text_for(part) if index in positions and isinstance(part, Image) else part for index, part in enumerate(parts)
    )


def _left_out(image: Image) -> Text:
    size = f"{len(image.data) * 3 // 4:,} bytes" if image.data else "behind a link"
    return Text(LEFT_OUT.format(what=", ".join(filter(None, (image.media_type, size)))))
