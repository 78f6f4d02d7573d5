"""What a model reads in the messages of each format, without the code that writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

Wire: TypeAlias = Mapping[str, Any]


class Said(NamedTuple):
    """A text of a message, by its role; `is_result` if it is inside the result of a call, which nobody says."""

    role: str
    text: str
    is_result: bool = False


def _parts(content: Any) -> Sequence[Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _openai(message: Wire) -> Iterator[Said]:
    for part in _parts(message.get("content")):
        yield Said(message["role"], part.get("text", ""), message["role"] == "tool")


def _anthropic(message: Wire) -> Iterator[Said]:
    for part in _parts(message["content"]):
        if part["type"] == "tool_result":
            yield from (Said("tool", inner.get("text", ""), is_result=True) for inner in _parts(part.get("content")))
        else:
            yield Said(message["role"], part.get("text", ""))


def _responses(item: Wire) -> Iterator[Said]:
    if item.get("type") == "function_call_output":
        yield from (Said("tool", part.get("text", ""), is_result=True) for part in _parts(item["output"]))
    elif "role" in item:
        yield from (Said(item["role"], part.get("text", "")) for part in _parts(item["content"]))


def _gemini(content: Wire) -> Iterator[Said]:
    for part in content["parts"]:
        if "functionResponse" in part:
            yield Said("tool", str(part["functionResponse"]["response"]), is_result=True)
        else:
            yield Said(content["role"], part.get("text", ""))


def _native(message: Wire) -> Iterator[Said]:
    for part in message["parts"]:
        if part["type"] == "tool_result":
            yield from (Said("tool", inner.get("text", ""), is_result=True) for inner in part["content"])
        else:
            yield Said(message["role"], part.get("text", ""))


READERS: Final[Mapping[str, Callable[[Wire], Iterator[Said]]]] = MappingProxyType(
    {"openai": _openai, "anthropic": _anthropic, "responses": _responses, "gemini": _gemini, "native": _native}
)


def said_in(format_name: str, messages: Sequence[Wire], system: str | None) -> list[Said]:
    """All texts of a view, in order; the arguments of calls are not among them."""
    read = READERS[format_name]
    return [Said("system", system or ""), *(said for message in messages for said in read(message))]
