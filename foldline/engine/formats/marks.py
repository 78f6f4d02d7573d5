"""The short texts that stand in a rendered view for what its format cannot carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.engine.messages import Image, Other, Text, ToolResult

EMPTY: Final = "[empty message]"
OPENING: Final = "[conversation continues]"
IMAGE: Final = "[image left out]"
IMAGE_BELOW: Final = "[image below]"
IMAGES_ABOVE: Final = "[images of the tool results above]"
ERROR: Final = "[error]"

KIND_CHARS: Final = 32


def left_out(part: Other) -> str:
    """What stands for a part of a type the format does not know."""
    return f"[{part.kind[:KIND_CHARS]} left out]"


def speaker(role: str) -> str:
    """What precedes the text of a system or developer message that a user message carries."""
    return f"[{role} message]"


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: some providers refuse such a text part."""
    return not text or text.isspace()


def with_error(result: ToolResult) -> Sequence[Text | Image | Other]:
    """The content of a result for a format without a flag for failure: a failed one begins with a mark."""
    match result.content:
        case content if not result.is_error:
            return content
        case (Text(text=text), *rest):
            return (Text(f"{ERROR}\n{text}"), *rest)
        case content:
            return (Text(ERROR), *content)
