"""The APIs of providers that the gateway speaks: where a request has its conversation, and how a view is put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.formats.contract import Wire
from foldline.engine.gateway.cache_marks import MOST_MARKS, with_last_marked, with_summary_marked, without_marks
from foldline.engine.messages import JsonObject, Message
from foldline.engine.wire import dumps

# Roles of messages that come before the conversation, and belong to the request's fixed parts.
_LEADING: Final = frozenset({"system", "developer"})
# Fields of a remote tool with the caller's credentials for it.
_CREDENTIALS: Final = frozenset({"authorization", "headers"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API: its path, the upstream's name, the format of its messages, and the fields of a request.

    `output` are the fields that bound the answer. With `leads`, system messages before all others are fixed parts;
    where the system prompt has a field of its own, a system message is something that was said. A request with one of
    `elsewhere` has its history at the provider. `session_headers` carry the id that an agent gives its conversation.
    """

    path: str
    upstream: str
    format: str
    messages: str
    system: str | None
    output: tuple[str, ...]
    leads: bool = True
    elsewhere: tuple[str, ...] = ()
    session_headers: tuple[str, ...] = ()


DIALECTS: Final = (
    Dialect(
        path="/v1/messages",
        upstream="anthropic",
        format="anthropic",
        messages="messages",
        system="system",
        output=("max_tokens",),
        leads=False,
        session_headers=("x-claude-code-session-id",),
    ),
    Dialect(
        path="/v1/chat/completions",
        upstream="openai",
        format="openai",
        messages="messages",
        system=None,
        output=("max_completion_tokens", "max_tokens"),
        session_headers=("x-session-id",),
    ),
    Dialect(
        path="/v1/responses",
        upstream="openai",
        format="responses",
        messages="input",
        system="instructions",
        output=("max_output_tokens",),
        elsewhere=("previous_response_id", "conversation"),
        session_headers=("session-id", "session_id"),
    ),
)


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request as a provider gets it: its wire messages, each as JSON, and the other fields.

    `conversation` is the name of the field that has the messages.
    """

    conversation: str
    fields: JsonObject
    wires: Sequence[bytes]

    def json(self) -> bytes:
        """The request as JSON."""
        field = dumps({**self.fields, self.conversation: []}).removesuffix(b"]}")
        return b"".join((field, b",".join(self.wires), b"]}"))


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What the gateway understands of a request.

    `leading` are wire messages that come before the conversation, `system` the text of all that does. `wires` is the
    conversation without cache marks, `mark` the last of these, if the caller set one; `other_marks` are elsewhere.
    `tools` are without the credentials that the `body` may have in them.
    """

    dialect: Dialect
    body: JsonObject
    model: str
    max_output_tokens: int | None
    leading: Sequence[Wire]
    system: str | None
    tools: Sequence[JsonObject]
    wires: Sequence[Any]
    mark: JsonObject | None
    other_marks: int

    def messages(self, first: int = 0) -> list[Message]:
        """The messages of the conversation, from the wire message `first` on.

        Raises:
            InvalidMessage: one of them cannot be read.
        """
        return FORMATS[self.dialect.format].parse(self.wires[first:], self.dialect.messages)

    def showing(self, wires: Sequence[bytes]) -> RequestBody:
        """The request with other wire messages in the place of its conversation, each as JSON."""
        name = self.dialect.messages
        if self.mark is not None:
            wires = with_last_marked(wires, self.mark)
            if self.other_marks + 1 < MOST_MARKS:
                wires = with_summary_marked(wires, self.mark)
        fields = {key: value for key, value in self.body.items() if key != name}
        return RequestBody(name, fields, (*map(dumps, self.leading), *wires))


def understood(dialect: Dialect, body: Any, marks: int = MOST_MARKS) -> AgentRequest:
    """The request that a body makes, which has so many `marks` for the provider's cache.

    Raises:
        InvalidMessage: it has no conversation, or has a part of it elsewhere.
    """
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise InvalidMessage("body", "must be an object with a model")
    if any(body.get(name) for name in dialect.elsewhere):
        raise InvalidMessage("body", "has its history at the provider")
    wires = body.get(dialect.messages)
    if not isinstance(wires, list) or not wires:
        raise InvalidMessage(dialect.messages, "must be a list of messages")
    if any(isinstance(wire, dict) and wire.get("type") == "item_reference" for wire in wires):
        raise InvalidMessage("body", "has a part of its history at the provider")
    first = next((at for at, wire in enumerate(wires) if not _is_leading(dialect, wire)), len(wires))
    plain, taken = without_marks(wires[first:])
    tools = body.get("tools")
    return AgentRequest(
        dialect,
        body,
        body["model"],
        next((body[name] for name in dialect.output if _is_count(body.get(name))), None),
        wires[:first],
        "\n\n".join([*_texts(body.get(dialect.system or "")), *_texts(wires[:first])]) or None,
        [_without_credentials(tool) for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else (),
        plain,
        taken[-1] if taken else None,
        marks - len(taken),
    )


def _without_credentials(tool: JsonObject) -> JsonObject:
    return {name: value for name, value in tool.items() if name not in _CREDENTIALS}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_leading(dialect: Dialect, wire: Any) -> bool:
    """Whether a wire message is one of the fixed parts, if it comes first."""
    role = wire.get("role") if isinstance(wire, Mapping) else None
    return dialect.leads and isinstance(role, str) and role in _LEADING


def _texts(value: Any) -> list[str]:
    """The texts of a system prompt in one of the forms that providers take."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        text = value.get("text")
        return _texts(value.get("content")) if text is None else _texts(text)
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
