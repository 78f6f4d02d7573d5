"""What is known of Responses items besides calls: their types, and the envelope of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Item: TypeAlias = dict[str, Any]

NAME: Final = "responses"
MESSAGE: Final = "message"
REASONING: Final = "reasoning"
# The key of Foldline's own object around the items of one message, if they are several.
ENVELOPE: Final = "items"
# The types of text parts, and the key with the text.
TEXTS: Final[Mapping[str, str]] = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "refusal": "refusal",
}
IMAGE: Final = "input_image"
# Items of the client that are no messages: they count as the developer's.
DEVELOPER_ITEMS: Final = frozenset({"additional_tools", "configuration_update", "compaction_trigger"})
# Items that the API does not take without their `id`; that of calls, texts and web searches may be left out.
IDENTIFIED: Final = frozenset(
    {"file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools", "program"}
)


def kind_of(item: Mapping[str, Any]) -> Any:
    """The item's type; that of a message may be missing."""
    kind = item.get("type")
    return MESSAGE if kind is None else kind


def is_envelope(wire: Mapping[str, Any]) -> bool:
    """Whether this is an object around several items."""
    return ENVELOPE in wire and "type" not in wire and "role" not in wire
