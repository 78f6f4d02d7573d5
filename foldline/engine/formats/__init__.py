"""The wire formats: one module each with what it reads and writes, and `rules` with what a request must obey.

`rules` shares no code with the rest, so that it can say whether the rest is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.formats import anthropic, native, openai
from foldline.engine.formats.contract import Format, Rendered

__all__ = ["DEFAULT", "FORMATS", "Format", "Rendered", "detect"]

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {format_.name: format_ for format_ in (openai.FORMAT, anthropic.FORMAT, native.FORMAT)}
)
DEFAULT: Final = openai.NAME

_TELLING_KEYS: Final = {"parts": native.NAME, "tool_calls": openai.NAME, "tool_call_id": openai.NAME}
_TELLING_ROLES: Final = {"tool": openai.NAME, "developer": openai.NAME}
_TELLING_KINDS: Final = {
    "tool_use": anthropic.NAME,
    "tool_result": anthropic.NAME,
    "thinking": anthropic.NAME,
    "redacted_thinking": anthropic.NAME,
    "image": anthropic.NAME,
    "document": anthropic.NAME,
    "image_url": openai.NAME,
    "input_audio": openai.NAME,
    "file": openai.NAME,
    "refusal": openai.NAME,
}


def detect(messages: Sequence[Any]) -> str:
    """The name of the format that wire messages are in, by the first telling sign; plain text reads the same in all."""
    for message in messages:
        name = _sign(message)
        if name is not None:
            return name
    return DEFAULT


def _sign(message: Any) -> str | None:
    if not isinstance(message, dict):
        return None
    for key, name in _TELLING_KEYS.items():
        if key in message:
            return name
    content, role = message.get("content"), message.get("role")
    kinds = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    signs = (_TELLING_KINDS[kind] for kind in kinds if isinstance(kind, str) and kind in _TELLING_KINDS)
    return next(signs, _TELLING_ROLES.get(role) if isinstance(role, str) else None)
