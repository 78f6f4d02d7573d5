"""The recall tool for agents that do not know it: offered in their requests, and answered before they see its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from foldline.engine.formats import FORMATS
from foldline.engine.gateway.answers import Answer
from foldline.engine.gateway.dialects import AgentRequest, RequestBody
from foldline.engine.messages import JsonObject, Message, ToolCall
from foldline.engine.recall.tool import NAME, definition, result_in
from foldline.engine.wire import dumps

# An answer may call the agent's own tools beside this one. The agent gets none of such an answer, so the model makes
# those calls again.
NOT_MADE: Final = f"This call was not made, as {NAME} was called beside it. Make it again."


def takes_recall(asked: AgentRequest) -> bool:
    """Whether a request can have the tool: it has tools, and none of that name."""
    return bool(asked.tools) and NAME not in map(_name, asked.tools)


def _name(tool: JsonObject) -> Any:
    function = tool.get("function")
    return function.get("name") if isinstance(function, Mapping) else tool.get("name")


def with_recall(asked: AgentRequest, body: RequestBody) -> RequestBody:
    """The request's body with the tool."""
    return _with_tools(body, [*body.fields["tools"], definition(asked.dialect.format)])


def without_recall(body: RequestBody) -> RequestBody:
    """The body of `with_recall` without the tool."""
    return _with_tools(body, body.fields["tools"][:-1])


def _with_tools(body: RequestBody, tools: list[Any]) -> RequestBody:
    return replace(body, fields={**body.fields, "tools": tools})


def recalls_in(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the tool in an answer."""
    return [call for message in messages for call in message.calls if call.name == NAME]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Answers that call the tool, with the results of their calls; `wires` is that as the provider takes it."""

    messages: tuple[Message, ...] = ()
    wires: tuple[Any, ...] = ()

    def after(self, asked: AgentRequest, answer: Answer, answers: Mapping[str, tuple[str, bool]]) -> Exchange:
        """With one more answer: by the ids of its calls of the tool, a text and whether it says an error."""
        name = asked.dialect.format
        results = [
            result_in(name, call, text, is_error=is_error)
            for message in answer.messages
            for call in message.calls
            for text, is_error in [answers.get(call.id, (NOT_MADE, True))]
        ]
        messages = (*self.messages, *answer.messages, *FORMATS[name].parse(results))
        return Exchange(messages, (*self.wires, *answer.wires, *results))


def continued(body: RequestBody, exchange: Exchange) -> RequestBody:
    """The request's body with this exchange after its conversation."""
    return replace(body, wires=(*body.wires, *map(dumps, exchange.wires)))
