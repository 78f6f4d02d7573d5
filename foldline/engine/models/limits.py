"""What providers take in one request beside tokens: images, their sides, and bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.images.in_messages import Images, ImageSize
from foldline.engine.models.windows import provider_of

MEGABYTE: Final = 1_000_000
# Bytes of JSON that a token of text takes, with its escapes; most take four.
BYTES_PER_TOKEN: Final = 6
# More than any number, bytes or pixels of images.
ANY: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """The most images of a view: their number, their bytes together, and the bytes and longest side of each.

    In a view with more than `many` images, no side of any may have more pixels than `side_of_many`. Bytes are those of
    base64.
    """

    count: int = ANY
    bytes: int = ANY
    image_bytes: int = ANY
    side: int = ANY
    many: int = ANY
    side_of_many: int = ANY

    def takes(self, images: Images) -> bool:
        """Whether a view may have these images."""
        count, size, side = self.most_beside(images.count)
        return images.count <= count and images.bytes <= size and images.side <= side

    def most_beside(self, images: int) -> tuple[int, int, int]:
        """The most images, bytes, and pixels of a side in a view with so many images."""
        return self.count, self.bytes, self.side if images <= self.many else self.side_of_many

    def too_large(self, sizes: Sequence[ImageSize]) -> set[int]:
        """The indexes of the images of one message that no view may have, whatever else it has."""
        _, _, side = self.most_beside(len(sizes))
        return {index for index, size in enumerate(sizes) if size.bytes > self.image_bytes or size.side > side}

    def adding(self, shown: Images, sizes: Sequence[ImageSize]) -> Images:
        """The images of a view after one more message with images of these sizes."""
        gone = self.too_large(sizes)
        return shown.adding(size for index, size in enumerate(sizes) if index not in gone)

    def within(self, count: int, total_bytes: int) -> ImageLimits:
        """These limits, and at most so many images and bytes of them together; 0 is no further limit."""
        return replace(self, count=min(self.count, count or ANY), bytes=min(self.bytes, total_bytes or ANY))

    def share(self, share: float) -> ImageLimits:
        """The limits with a share of all that adds up, rounded down."""
        number, total, many = (int(amount * share) for amount in (self.count, self.bytes, self.many))
        return replace(self, count=number, bytes=total, many=many)


NO_LIMITS: Final = ImageLimits()


class RequestLimits(NamedTuple):
    """A provider's limits for a request: its bytes, the number of its images, and the bytes of one image as base64.

    `image_side` is the most pixels of a side of an image, `side_of_many` that in a request with more than `many`
    images; without them, the provider makes large images smaller itself. `source` is where all are documented.
    """

    request_bytes: int
    images: int
    image_bytes: int
    source: str
    image_side: int = ANY
    many: int = ANY
    side_of_many: int = ANY

    def for_images(self, window_tokens: int = 0) -> ImageLimits:
        """The most images of a view, beside text that fills a window of so many tokens.

        Text gets at most half of the request's bytes.
        """
        text_bytes = min(window_tokens * BYTES_PER_TOKEN, self.request_bytes // 2)
        return ImageLimits(
            self.images,
            self.request_bytes - text_bytes,
            self.image_bytes,
            self.image_side,
            self.many,
            self.side_of_many,
        )


_CLAUDE: Final = "platform.claude.com/docs, Vision and API overview"
LIMITS: Final[Mapping[str, RequestLimits]] = MappingProxyType(
    {
        "anthropic": RequestLimits(
            32 * MEGABYTE, 100, 5 * MEGABYTE, _CLAUDE, image_side=8_000, many=20, side_of_many=2_000
        ),
        "aws": RequestLimits(
            20 * MEGABYTE, 20, 5 * MEGABYTE, "docs.aws.amazon.com/bedrock, API reference of Message", image_side=8_000
        ),
        "openai": RequestLimits(50 * MEGABYTE, 500, 50 * MEGABYTE, "platform.openai.com/docs, Images and vision"),
        "google": RequestLimits(
            20 * MEGABYTE, 3_000, 20 * MEGABYTE, "ai.google.dev/gemini-api/docs, Image understanding"
        ),
        "mistral": RequestLimits(20 * MEGABYTE, 8, 10 * MEGABYTE, "docs.mistral.ai, Vision"),
    }
)
# For providers whose limits nobody noted: what most of the others take.
USUAL: Final = RequestLimits(20 * MEGABYTE, 100, 5 * MEGABYTE, "the usual limits of the providers above")


def limits_of(model: str | None) -> RequestLimits:
    """The limits of a model's provider; those of the maker where the name has no provider."""
    return LIMITS.get(provider_of(model or ""), USUAL)
