"""What a provider answered: the messages as its API has callers send them back, and the tokens that it counted.

An answer comes as one JSON value, or as the events of a stream, which are first put together to that value. What is
not understood of an answer is None: then the agent's next request says what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.gateway.dialects import Dialect
from foldline.engine.gateway.streams import chat_answer, messages_answer, responses_answer
from foldline.engine.messages import SEALED_KINDS, Message, Other, Part, Text, Thinking


class Answer(NamedTuple):
    """An answer's messages, and the provider's counts of the prompt, with what its cache held, and of the answer.

    `wires` are the messages as the provider takes them. A count is 0 if the provider gave none, or one that is not
    of this prompt alone.
    """

    messages: list[Message]
    wires: list[Any]
    prompt_tokens: int
    output_tokens: int


class _Api(NamedTuple):
    """`joined` puts a stream's events together, `wires` has the messages, `prompt` the counts that add up to it.

    `text` is the content of a plain message with this text.
    """

    joined: Callable[[Iterable[Any]], Any]
    wires: Callable[[Mapping[str, Any]], list[Any]]
    text: Callable[[str], Any]
    prompt: tuple[str, ...]
    output: str


def _message_of(body: Mapping[str, Any]) -> list[Any]:
    return [{"role": "assistant", "content": body["content"]}]


def _choice_of(body: Mapping[str, Any]) -> list[Any]:
    (choice,) = body["choices"]
    return [choice["message"]]


_APIS: Final[Mapping[str, _Api]] = {
    # What Anthropic's cache held is no part of its `input_tokens`; with OpenAI it is.
    "anthropic": _Api(
        messages_answer,
        _message_of,
        lambda text: [{"type": "text", "text": text}],
        ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        "output_tokens",
    ),
    "openai": _Api(chat_answer, _choice_of, lambda text: text, ("prompt_tokens",), "completion_tokens"),
    "responses": _Api(
        responses_answer,
        lambda body: body["output"],
        lambda text: [{"type": "output_text", "text": text}],
        ("input_tokens",),
        "output_tokens",
    ),
}


def streamed_answer(dialect: Dialect, events: Iterable[Any]) -> Answer | None:
    """The answer whose stream had these events, each the JSON value of its data; None if it did not end."""
    try:
        return whole_answer(dialect, _APIS[dialect.format].joined(events))
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def whole_answer(dialect: Dialect, body: Any) -> Answer | None:
    """The answer that came as one value."""
    api = _APIS[dialect.format]
    try:
        wires = api.wires(body)
        messages = FORMATS[dialect.format].parse(wires, "answer")
    except (AttributeError, InvalidMessage, LookupError, TypeError, ValueError):
        return None
    usage = body.get("usage")
    if not isinstance(usage, Mapping) or any(_is_of_a_tool(message) for message in messages):
        usage = {}
    return Answer(messages, wires, sum(_count(usage, name) for name in api.prompt), _count(usage, api.output))


def _is_of_a_tool(message: Message) -> bool:
    """Whether the provider ran a tool of its own. Then its counts are the sums of several prompts."""
    return message.role != "assistant" or any(
        isinstance(part, Other) and part.kind not in SEALED_KINDS for part in message.parts
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def texts_of(dialect: Dialect, answer: Answer) -> list[Message]:
    """The texts of an answer as plain messages; none if it says more than text, or nothing."""
    found = [[part for part in message.parts if not _is_reasoning(part)] for message in answer.messages]
    if not all(isinstance(part, Text) for parts in found for part in parts):
        return []
    said = ["".join(part.text for part in parts if isinstance(part, Text)) for parts in found]
    content = _APIS[dialect.format].text
    wires = [{"role": "assistant", "content": content(text)} for text in said if text.strip()]
    return FORMATS[dialect.format].parse(wires)


def _is_reasoning(part: Part) -> bool:
    return isinstance(part, Thinking) or (isinstance(part, Other) and part.kind in SEALED_KINDS)
