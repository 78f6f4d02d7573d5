"""The recall tool for agents that do not know it: offered in their requests, and answered before they see its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.engine.formats import FORMATS
from foldline.engine.gateway.dialects import AgentRequest
from foldline.engine.messages import JsonObject, Message, ToolCall
from foldline.engine.recall.tool import NAME, definition, result_in

# An answer may call the agent's own tools beside this one. The agent gets none of such an answer, so the model makes
# those calls again.
NOT_MADE: Final = f"This call was not made, as {NAME} was called beside it. Make it again."


def takes_recall(asked: AgentRequest) -> bool:
    """Whether a request can have the tool: it has tools, and none of that name."""
    return bool(asked.tools) and NAME not in map(_name, asked.tools)


def _name(tool: JsonObject) -> Any:
    function = tool.get("function")
    return function.get("name") if isinstance(function, Mapping) else tool.get("name")


def with_recall(asked: AgentRequest, body: JsonObject) -> dict[str, Any]:
    """The request's body with the tool."""
    return {**body, "tools": [*body["tools"], definition(asked.dialect.format)]}


def without_recall(body: JsonObject) -> dict[str, Any]:
    """The body of `with_recall` without the tool."""
    return {**body, "tools": body["tools"][:-1]}


def recalls_in(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the tool in an answer."""
    return [call for message in messages for call in message.calls if call.name == NAME]


def with_results(
    asked: AgentRequest, messages: Sequence[Message], answers: Mapping[str, tuple[str, bool]]
) -> list[Message]:
    """An answer and the results of its calls: by the ids of those of recall, a text and whether it says an error."""
    name = asked.dialect.format
    results = [
        result_in(name, call, text, is_error=is_error)
        for message in messages
        for call in message.calls
        for text, is_error in [answers.get(call.id, (NOT_MADE, True))]
    ]
    return [*messages, *FORMATS[name].parse(results)]


def continued(asked: AgentRequest, body: JsonObject, exchange: Sequence[Message]) -> dict[str, Any]:
    """The request's body with this exchange after its conversation."""
    name = asked.dialect.messages
    added = FORMATS[asked.dialect.format].render(exchange, None, asked.model).messages
    return {**body, name: [*body[name], *added]}
