"""What a wire format offers the engine: wire messages to canonical ones and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, Self

from foldline.engine.messages import Message

# A message as a format writes it.
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Wire messages of one format, with the system text.

    `lossy` counts the parts that were replaced by text or dropped because the format cannot carry them.
    """

    messages: list[Wire]
    system: str | None
    lossy: int


class Parse(Protocol):
    """Reads wire messages; see `Format.parse`."""

    def __call__(self, messages: Sequence[Any], path: str = "messages") -> list[Message]:
        """The canonical messages of `messages`, in order."""
        ...


class Writer(ABC):
    """Writes canonical messages as wire messages of one format, one after another.

    `messages` are those written so far; a later one may still change the last of them. `lossy` counts as in `Rendered`.
    """

    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self.lossy = 0

    @abstractmethod
    def add(self, message: Message) -> None:
        """Write one more message."""

    @abstractmethod
    def finish(self) -> None:
        """Write what waits for the next message. Nothing can be added afterwards."""

    def take(self) -> list[Wire]:
        """Hand over the messages that nothing can change any more."""
        taken, self.messages = self.messages[:-1], self.messages[-1:]
        return taken

    def copy(self) -> Self:
        """A writer that goes on from here without changing this one."""
        other = copy(self)
        vars(other).update({name: copy(value) for name, value in vars(self).items()})
        return other


class MakeWriter(Protocol):
    """Makes the writer of a view for a model, or for any that takes what came in."""

    def __call__(self, system: str | None, model: str | None, /) -> Writer:
        """A writer that has written nothing but the system text, if that has its place among the messages."""
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
    stay in the messages as their sources and must not be changed afterwards. A writer takes messages in canonical
    order whose calls are each followed by their results, never fails, and writes sources as they are: its output may
    share dicts with the messages. `signs` distinguish the format from others. It `has_turns` if its messages are turns
    of roles, and not items.
    """

    name: str
    parse: Parse
    writer: MakeWriter
    signs: Signs
    has_turns: bool = True

    def render(self, messages: Sequence[Message], system: str | None, model: str | None = None) -> Rendered:
        """The wire form of messages; `model` matters where some of a provider's models refuse what others take."""
        writer = self.writer(system, model)
        for message in messages:
            writer.add(message)
        writer.finish()
        return Rendered(writer.messages, system, writer.lossy)
