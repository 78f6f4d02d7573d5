"""The recall tool as a model sees it: its definition, the arguments of a call and its result, in each wire format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.arguments import json_object
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS, anthropic, gemini, native, openai, responses
from foldline.engine.ledger.items import ItemKind
from foldline.engine.messages import JsonObject, Message, Text, ToolCall, ToolResult

NAME: Final = "recall"
DEFAULT_TOKENS: Final = 2_000
LEAST_TOKENS: Final = 100
MOST_TOKENS: Final = 20_000
DESCRIPTION: Final = (
    "Searches what was said earlier in this conversation and is out of view now: summarized, hidden, cleared or cut. "
    "Use it when a detail is missing, such as an exact value, name, path, error or output. It returns quotes, with "
    "the source of each."
)
PARAMETERS: Final[JsonObject] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What to look for: a question, or words that stood beside it.",
            },
            "max_tokens": {
                "type": "integer",
                "description": f"The most tokens of the answer, {LEAST_TOKENS} to {MOST_TOKENS}. "
                f"Default: {DEFAULT_TOKENS}.",
            },
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": [kind.value for kind in ItemKind]},
                "description": "Search only items of these kinds. Default: everything that was said.",
            },
        },
        "required": ["query"],
    }
)


# The ends of the name in calls: clients of MCP servers put the server's before it, such as `mcp__foldline__recall`.
_ENDS: Final = tuple(f"{separator}{NAME}" for separator in "_./-")


class ToolFormat(NamedTuple):
    """How a wire format defines a tool, and the message in which a model calls it."""

    definition: Callable[[dict[str, Any]], dict[str, Any]]
    calling: Callable[[JsonObject], JsonObject]


def _function(parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": NAME, "description": DESCRIPTION, "parameters": parameters}


_IN_FORMAT: Final[Mapping[str, ToolFormat]] = MappingProxyType(
    {
        openai.FORMAT.name: ToolFormat(
            lambda parameters: {"type": "function", "function": _function(parameters)},
            lambda call: {"role": "assistant", "content": None, "tool_calls": [call]},
        ),
        anthropic.FORMAT.name: ToolFormat(
            lambda parameters: {"name": NAME, "description": DESCRIPTION, "input_schema": parameters},
            lambda call: {"role": "assistant", "content": [call]},
        ),
        responses.FORMAT.name: ToolFormat(
            lambda parameters: {"type": "function", **_function(parameters), "strict": False},
            lambda call: call,
        ),
        gemini.FORMAT.name: ToolFormat(
            lambda parameters: {"functionDeclarations": [_function(parameters)]},
            lambda call: {"role": "model", "parts": [call]},
        ),
        native.FORMAT.name: ToolFormat(
            _function,
            lambda call: {"role": "assistant", "parts": [call]},
        ),
    }
)


class InvalidArguments(Exception):
    """A model called the tool with arguments that it does not take; the message is for the model."""


class Arguments(NamedTuple):
    """The arguments of a call."""

    query: str
    max_tokens: int = DEFAULT_TOKENS
    kinds: frozenset[ItemKind] = frozenset()


def definition(format_name: str) -> dict[str, Any]:
    """The definition of the tool, as an element of a request's `tools` in this format."""
    return _IN_FORMAT[format_name].definition(dict(PARAMETERS))


def name_in(tools: Iterable[Any], called: Iterable[str]) -> str:
    """The name of this tool for a model that uses it: one with its description, or that was called; "" if it does not.

    `tools` are definitions in any format, `called` the names of tools that the model called.
    """
    defined = list(_definitions(tools))
    own = [name for name, description in defined if DESCRIPTION in description]
    others = {name for name, _ in defined}
    return next(iter([*own, *(name for name in called if name not in others and _is_ours(name))]), "")


def _is_ours(name: str) -> bool:
    return name == NAME or ("foldline" in name and name.endswith(_ENDS))


def _definitions(tools: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """The names and descriptions of tools, some of which are within others."""
    for found in tools:
        if isinstance(found, Mapping):
            if isinstance(found.get("name"), str):
                yield found["name"], str(found.get("description"))
            inner = (found.get("function"), *_listed(found.get("functionDeclarations")), *_listed(found.get("tools")))
            yield from _definitions(inner)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def call_in(format_name: str, call: JsonObject) -> ToolCall:
    """The call that a model made in this format.

    Raises:
        InvalidMessage: it is no tool call of this format.
    """
    messages = FORMATS[format_name].parse([_IN_FORMAT[format_name].calling(call)], "call")
    calls = [found for message in messages for found in message.calls]
    if len(calls) != 1:
        raise InvalidMessage("call", f"expected a tool call in the format {format_name}")
    return calls[0]


def result_in(format_name: str, call: ToolCall, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """The message that answers the call with a text, in this format."""
    result = ToolResult(call.id, (Text(text),), name=call.name, is_error=is_error)
    exchange = [Message("assistant", (call,), format=format_name), Message("tool", (result,))]
    return FORMATS[format_name].render(exchange, None).messages[-1]


def arguments_of(call: ToolCall) -> Arguments:
    """The checked arguments of a call; numbers out of bounds are brought within them.

    Raises:
        InvalidArguments: the query is missing, or an argument has the wrong type.
    """
    given = json_object(call.arguments)
    if given is None:
        message = "the arguments must be a JSON object"
        raise InvalidArguments(message)
    query, tokens = given.get("query"), given.get("max_tokens")
    if not isinstance(query, str):
        message = "query: must be given, as text"
        raise InvalidArguments(message)
    return Arguments(query, _tokens(tokens), kinds_of(given.get("kinds") or ()))


def _tokens(value: Any) -> int:
    if value is None:
        return DEFAULT_TOKENS
    # Some models write whole numbers as 500.0, and JSON has one kind of number.
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = "max_tokens: must be a number"
        raise InvalidArguments(message)
    return max(LEAST_TOKENS, min(int(value), MOST_TOKENS))


def kinds_of(values: Any) -> frozenset[ItemKind]:
    """The kinds of items with these names.

    Raises:
        InvalidArguments: a name is not that of a kind.
    """
    known = set(ItemKind)
    names = list(values) if isinstance(values, list | tuple) else [values]
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown:
        message = f"kinds: {str(unknown[0])[:80]!r} is none; there are {', '.join(ItemKind)}"
        raise InvalidArguments(message)
    return frozenset(map(ItemKind, names))
