"""Images as URLs: of the web, or with the data in them."""

from __future__ import annotations

from typing import Final

from foldline.engine.messages import Image, JsonObject

BASE64: Final = ";base64"
# Links that anyone can follow, unlike those into a provider's store.
PUBLIC: Final = ("https://", "http://", "data:")


def image_at(url: str, source: JsonObject | None = None) -> Image:
    """The image at this URL; with its data, if they are in the URL."""
    header, comma, data = url.partition(",") if url.startswith("data:") else (url, "", "")
    if not comma or not header.endswith(BASE64):
        return Image(url=url, source=source)
    media_type = header.removeprefix("data:").partition(";")[0]
    return Image(media_type=media_type or None, data=data, source=source)


def url_of(image: Image) -> str:
    """The URL of an image, of its data if it has these; empty if it has neither."""
    if image.data is None:
        return image.url or ""
    return f"data:{image.media_type or 'application/octet-stream'};base64,{image.data}"


def is_public(image: Image) -> bool:
    """Whether any provider can have the image: by its data, or by a link that is not into another's store."""
    return url_of(image).startswith(PUBLIC)
