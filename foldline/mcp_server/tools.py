"""The tools as a model sees them: their names, descriptions and arguments, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.client import Client, JsonDict
from foldline.engine.messages import JsonObject
from foldline.engine.recall import tool
from foldline.mcp_server import calls

SESSION: Final = "session"


class OfferedTool(NamedTuple):
    """A tool: what its model reads, and the function that answers a call with a text.

    `parameters` is a JSON Schema of its own arguments; `schema_for` adds the session's. A tool that `is_always_shown`
    is in each request, also of an agent that has its model search for tools first.
    """

    description: str
    parameters: JsonObject
    perform: Callable[[Client, str, JsonDict], str]
    is_reading: bool = False
    is_always_shown: bool = False


def _parameters(properties: JsonObject, *required: str) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS: Final[Mapping[str, OfferedTool]] = MappingProxyType(
    {
        tool.NAME: OfferedTool(tool.DESCRIPTION, tool.PARAMETERS, calls.recall, is_reading=True, is_always_shown=True),
        "ledger": OfferedTool(
            "Lists by kind what must survive of this conversation, as it was found in what was said: rules, requests, "
            "steps of plans, decisions, preferences, changed files and failures. Use it when you are not sure what the "
            "user asked for, or what was done already.",
            _parameters(
                {
                    "kinds": {
                        **tool.PARAMETERS["properties"]["kinds"],
                        "description": f"List only these kinds. Default: {', '.join(calls.LISTED_KINDS)}.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "The most items of each kind; the newest are listed. "
                        f"Default: {calls.DEFAULT_ITEMS}.",
                    },
                }
            ),
            calls.ledger,
            is_reading=True,
        ),
        "pin": OfferedTool(
            "Keeps a text in view for the rest of this conversation, word for word, whatever is compacted. Use it for "
            "a rule or a value that must not be lost.",
            _parameters({"text": {"type": "string", "description": "What to keep in view."}}, "text"),
            calls.pin,
        ),
        "compact": OfferedTool(
            "Compacts this conversation now, so that later requests are smaller. Nothing is deleted: recall finds what "
            "goes out of view.",
            _parameters(
                {
                    "instructions": {
                        "type": "string",
                        "description": "What a summary should look at, if a model writes it.",
                    }
                }
            ),
            calls.compact,
        ),
        "undo": OfferedTool(
            "Takes back a compaction and all later ones: what they took out of view is in view again.",
            _parameters(
                {"compaction": {"type": "string", "description": "Id of the compaction. Default: the newest."}}
            ),
            calls.undo,
        ),
    }
)


def schema_for(offered: OfferedTool, session: str | None) -> dict[str, Any]:
    """The JSON Schema of a call's arguments; `session` is the one that is taken without an argument, if it is given."""
    taken = session or "the one that got a message last, of those that have tools"
    named = {"type": "string", "description": f"Id of the session. Default: {taken}. Each answer names its session."}
    properties = {**offered.parameters["properties"], SESSION: named}
    return {**offered.parameters, "properties": properties, "additionalProperties": False}
