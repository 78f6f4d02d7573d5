"""The wire formats. A new one is a module with its `FORMAT`, a module in `rules`, and a row in each of the two tables.

`rules` shares no code with the rest, so that it can say whether the rest is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.formats import anthropic, gemini, native, openai, responses
from foldline.engine.formats.contract import Format, Rendered

__all__ = ["DEFAULT", "FORMATS", "Format", "Rendered", "detect", "shown_format"]

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        format_.name: format_
        for format_ in (openai.FORMAT, anthropic.FORMAT, responses.FORMAT, gemini.FORMAT, native.FORMAT)
    }
)
DEFAULT: Final = openai.NAME

# The native format's first: its messages may have keys that are others' signs, and no other has its own.
_NAME_BY_KEY: Final = {key: format_.name for format_ in reversed([*FORMATS.values()]) for key in format_.signs.keys}
_NAME_BY_TYPE: Final = {type_: format_.name for format_ in FORMATS.values() for type_ in format_.signs.types}
_NAME_BY_PART_TYPE: Final = {type_: format_.name for format_ in FORMATS.values() for type_ in format_.signs.part_types}
_NAME_BY_PART_KEY: Final = {key: format_.name for format_ in FORMATS.values() for key in format_.signs.part_keys}
_NAME_BY_ROLE: Final = {role: format_.name for format_ in FORMATS.values() for role in format_.signs.roles}


def detect(messages: Sequence[Any]) -> str:
    """The name of the format that wire messages are in, by the first sign of one; plain text reads the same in all."""
    return shown_format(messages) or DEFAULT


def shown_format(messages: Sequence[Any]) -> str | None:
    """The name of the format that wire messages show the first sign of; None if they show none."""
    names = map(_format_of, messages if isinstance(messages, list) else ())
    return next(filter(None, names), None)


def _format_of(message: Any) -> str | None:
    """The first format that a part without a type, or the message's keys, type, parts or role are a sign of."""
    if not isinstance(message, dict):
        return None
    content, role, kind = message.get("content"), message.get("role"), message.get("type")
    types = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    parts = message.get("parts")
    untyped = (
        [part for part in parts if isinstance(part, dict) and "type" not in part] if isinstance(parts, list) else []
    )
    found = (
        *(name for key, name in _NAME_BY_PART_KEY.items() if any(key in part for part in untyped)),
        *(name for key, name in _NAME_BY_KEY.items() if key in message),
        *(name for sign, name in _NAME_BY_TYPE.items() if sign == kind),
        *(_NAME_BY_PART_TYPE[type_] for type_ in types if isinstance(type_, str) and type_ in _NAME_BY_PART_TYPE),
        *(name for sign, name in _NAME_BY_ROLE.items() if sign == role),
    )
    return next(iter(found), None)
