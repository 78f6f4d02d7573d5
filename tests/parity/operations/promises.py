"""What any answer must hold, reported from the recorded messages alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tests.parity.vectors import Json


def last_user(messages: Sequence[Json]) -> int:
    """The index of the last message that is the user's own; -1 if there is none."""
    own = [index for index, message in enumerate(messages) if message["role"] == "user" and not message.get("meta")]
    return own[-1] if own else -1


def keeps_last_user(messages: Sequence[Json], gone: Collection[int]) -> bool:
    """Whether the last user message stays."""
    return last_user(messages) not in gone


def keeps_pairs(messages: Sequence[Json], gone: Collection[int]) -> bool:
    """Whether every result goes with its call, and the other way round."""
    calls = {call["id"]: index for index, message in enumerate(messages) for call in message.get("tool_calls") or ()}
    pairs = [
        (calls[at], index) for index, message in enumerate(messages) if (at := message.get("tool_call_id")) in calls
    ]
    return all((call in gone) == (result in gone) for call, result in pairs)


def reads(messages: Sequence[Json]) -> Mapping[int, str]:
    """The path that a result is of, where its call names one and reads."""
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    found = {}
    for index, message in enumerate(messages):
        function: Any = calls.get(message.get("tool_call_id"))
        if function and "read" in function["name"].lower():
            found[index] = str(json.loads(function["arguments"]).get("path"))
    return found
