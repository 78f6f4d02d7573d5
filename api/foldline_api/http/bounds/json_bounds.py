"""The bounds of a request's JSON: how many values, messages and files it may have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.wire import has_more_values, loads_bounded
from foldline.log.errors import LimitExceeded
from foldline.settings import Settings

# The lists of a body, by the setting that bounds them. A conversation is `input` in OpenAI's Responses.
LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {"messages": "max_messages", "input": "max_messages", "files": "max_files"}
)


def loads_within(raw: bytes, settings: Settings) -> Any:
    """The value of a body.

    Raises:
        LimitExceeded: it has too many values, which is found before it is parsed, or too many messages or files.
        TooDeep: it is nested too deeply.
        ValueError: it is not JSON; the message names the place.
    """
    check_values(raw, settings)
    value = loads_bounded(raw)
    for name, setting in LISTS.items():
        found = value.get(name) if isinstance(value, dict) else None
        most: int = getattr(settings, setting)
        if isinstance(found, list) and len(found) > most:
            raise LimitExceeded(most, setting, f"{name} has {len(found)} items")
    return value


def check_values(raw: bytes, settings: Settings) -> None:
    """Check the number of values in JSON, or in JSON Lines.

    Raises:
        LimitExceeded: there are too many.
    """
    if has_more_values(raw, settings.max_values):
        raise LimitExceeded(settings.max_values, "max_values", "the JSON has too many values")
