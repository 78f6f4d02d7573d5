"""What a wire format offers the engine: wire messages to canonical ones and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from foldline.engine.messages import Message


@dataclass(frozen=True, slots=True)
class Rendered:
    """Wire messages of one format, with the system text.

    `lossy` counts the parts that were replaced by text or dropped because the format cannot carry them.
    """

    messages: list[dict[str, Any]]
    system: str | None
    lossy: int


class Parse(Protocol):
    """Reads wire messages; see `Format.parse`."""

    def __call__(self, messages: Sequence[Any], path: str = "messages") -> list[Message]:
        """The canonical messages of `messages`, in order."""
        ...


class Render(Protocol):
    """Writes wire messages; see `Format.render`."""

    def __call__(self, messages: Sequence[Message], system: str | None, model: str | None = None, /) -> Rendered:
        """The wire form of `messages` for a model, or for any that takes what came in."""
        ...


@dataclass(frozen=True, slots=True)
class Signs:
    """What only messages of one format have: keys of the message, its type, types of its parts, roles.

    `part_keys` are keys of `parts` that have no type.
    """

    keys: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    part_types: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    part_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format.

    `parse` takes what a client sent and raises `InvalidMessage` with the path of what is wrong; the dicts it is given
    stay in the messages as their sources and must not be changed afterwards. `render` takes messages in canonical
    order whose calls are each followed by their results, never fails, and returns sources as they are: its output may
    share dicts with the messages. `model` matters where some of a provider's models refuse what others take. `signs`
    distinguish the format from others. It `has_turns` if its messages are turns of roles, and not items.
    """

    name: str
    parse: Parse
    render: Render
    signs: Signs
    has_turns: bool = True
