"""What a wire format is: how a prompt is sent, and how the answer is read, streamed or whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.engine.messages import JsonObject
from foldline.engine.summaries.cached_beginning import CachedBeginning

# A finish reason of a complete answer, whatever the format calls it; others stay as they are.
COMPLETE: Final = "stop"
MOST_NAME_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A prompt for a model: the system's text, the user's, and the most tokens of the answer.

    With a `beginning`, which has its own system prompt and tools, the user's text is a message below it. Everything
    before that goes out as it is, and no option is set that would make the provider's cache useless.
    """

    model: str
    system: str
    user: str
    max_tokens: int
    beginning: CachedBeginning | None = None

    @property
    def before(self) -> list[JsonObject]:
        """The messages before the user's."""
        return [*self.beginning.messages] if self.beginning else []

    @property
    def tools(self) -> dict[str, Any]:
        """The request's tools, if it has any."""
        return {"tools": self.beginning.tools} if self.beginning and self.beginning.tools else {}

    @property
    def instructions(self) -> str | None:
        """The system prompt; None if there is none."""
        return self.beginning.system if self.beginning else self.system


MOST_TOKENS: Final = 1 << 53


@dataclass(slots=True)
class WireAnswer:
    """The model's answer; one that broke off has no finish reason.

    `usage` has the tokens of the whole `input` and of the `output`, and those of the input that were a `cache_read` or
    a `cache_write`, where the provider says so.
    """

    said: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    has_tool_calls: bool = False
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """The text of the answer."""
        return "".join(self.said)

    def say(self, text: object) -> None:
        """Add a piece of the text; what is no text adds nothing."""
        self.said.append(text_in(text))

    def note_model(self, value: object) -> None:
        """Note the model's name, if it is a printable one that the database can store."""
        if isinstance(value, str) and value and value.isprintable() and len(value) <= MOST_NAME_CHARS:
            self.model = value

    def note_usage(self, usage: object, **names: str) -> None:
        """Note the tokens that an object names so: `input="prompt_tokens"`."""
        if isinstance(usage, dict):
            self.usage |= {name: usage[theirs] for name, theirs in names.items() if is_count(usage.get(theirs))}


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire format.

    `path` gives the address below the base URL, which is `base_url` unless another is set; `headers` those that carry a
    key. `body` gives the request's JSON. `take` adds an event of a stream, or a whole answer, to an answer. `adapted`
    gives the options that a server's refusal of some asks for, from its text and the body that it refused; None if it
    refuses none.
    """

    name: str
    base_url: str
    path: Callable[[WireRequest, Mapping[str, Any]], str]
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[WireRequest, Mapping[str, Any]], dict[str, Any]]
    take: Callable[[WireAnswer, Mapping[str, Any]], None]
    adapted: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None] = lambda _text, _body: None


def is_count(value: object) -> bool:
    """Whether the value is a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def objects(value: object) -> list[dict[str, Any]]:
    """The JSON objects in a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def within(value: object, name: str) -> object:
    """What an object has under a name; None if it is no object, or has nothing there."""
    return value.get(name) if isinstance(value, dict) else None


def text_in(value: object) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""
