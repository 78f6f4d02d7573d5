"""What providers take in one request beside tokens: images, and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.images import Images
from foldline.engine.models.windows import provider_of

MEGABYTE: Final = 1_000_000
# Bytes of JSON that a token of text takes, with its escapes; most take four.
BYTES_PER_TOKEN: Final = 6


class RequestLimits(NamedTuple):
    """A provider's limits for a request: its bytes, the number of its images, and the bytes of one image as base64.

    `source` is where they are documented.
    """

    request_bytes: int
    images: int
    image_bytes: int
    source: str

    def for_images(self, window_tokens: int) -> Images:
        """The most images of a view, beside text that fills a window of so many tokens.

        Text gets at most half of the request's bytes.
        """
        text_bytes = min(window_tokens * BYTES_PER_TOKEN, self.request_bytes // 2)
        return Images(self.images, self.request_bytes - text_bytes)


_CLAUDE: Final = "platform.claude.com/docs, Vision and API overview"
LIMITS: Final[Mapping[str, RequestLimits]] = MappingProxyType(
    {
        "anthropic": RequestLimits(32 * MEGABYTE, 100, 5 * MEGABYTE, _CLAUDE),
        "aws": RequestLimits(20 * MEGABYTE, 20, 5 * MEGABYTE, "docs.aws.amazon.com/bedrock, API reference of Message"),
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
