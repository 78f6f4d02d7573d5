"""The facts of an entry: everything that planning knows about it.

They are counted once, when the message arrives, before any lock is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.files import Files, Read, change_of, read_of, said_path
from foldline.engine.images.in_messages import ImageSize, image_sizes
from foldline.engine.messages import (
    SEALED_KINDS,
    Message,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    result_text,
)
from foldline.engine.tokens import counter
from foldline.engine.tokens.estimates import sizes_of, utf16_units
from foldline.engine.tokens.excerpts import LEVELS, excerpt, excerpt_arguments, is_worthwhile
from foldline.engine.wording import placeholder_tokens

# A failed read is no newer version of a file. Most tools report failure in words only.
FAILURE_PREFIXES: Final = (
    "error",
    "traceback",
    "exception",
    "failed",
    "enoent",
    "file not found",
    "no such file",
    "<error",
)


class Call(NamedTuple):
    """A tool call: its id, the lines it reads if it reads a file, the tool, and the path of the file it changes.

    `placeholders` are the tokens of the texts that name it in place of its result (`wording.placeholder_tokens`).
    """

    id: str
    read: Read | None = None
    tool: str = ""
    changes: str = ""
    placeholders: tuple[int, ...] = ()

    def known(self) -> Call:
        """This; see `CallOf.known`."""
        return self


class CallOf:
    """A call whose arguments are read when something of them is first asked for."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self.id = call.id
        self.tool = call.name

    def known(self) -> Call:
        """All of the call; the tool call is not needed any more."""
        return Call(self.id, self.read, self.tool, self.changes, self.placeholders)

    @cached_property
    def read(self) -> Read | None:
        """As in `Call`, like all that follow."""
        return read_of(self._call)

    @cached_property
    def changes(self) -> str:
        return change_of(self._call)

    @cached_property
    def placeholders(self) -> tuple[int, ...]:
        return placeholder_tokens(self.tool, self.read.path if self.read else "")


class Seen(NamedTuple):
    """The view that the model saw when it wrote a message: what its signed reasoning is bound to.

    `fixed` is a digest of model, system prompt, tools and pins; "" if it is not known which view it was. `edits_at` is
    the branch and seq of the newest compaction, undo or redo in it.
    """

    fixed: str = ""
    edits_at: tuple[int, int] | None = None


class Details(NamedTuple):
    """The facts that planning asks for in few entries, because they take another reading of the text.

    `arguments_saving` is the tokens saved when the arguments of its calls are cut. `excerpts` has the tokens of the
    result's content at each level of `excerpts.LEVELS`, 0 for a level that saves nothing. `chars` is the length of its
    text in UTF-16 units. `sizes` has the size of its parts by each estimate of `estimates.SIZED`. `said_path` is the
    path of the file that a result shows according to its own first line. `read` and `placeholders` of a result are
    those of its call; without any, its placeholders name nothing.
    """

    arguments_saving: int = 0
    excerpts: tuple[int, ...] = ()
    is_failure: bool = False
    chars: int = 0
    sizes: tuple[int, ...] = ()
    said_path: str = ""
    read: Read | None = None
    placeholders: tuple[int, ...] = ()

    def known(self) -> Details:
        """These; see `DetailsOf.known`."""
        return self

    def answering(self, call: Call | CallOf) -> Details:
        """The details of the result as that of this call."""
        return self._replace(read=call.read, placeholders=call.placeholders)


class DetailsOf:
    """The details of a message, each found when it is first asked for; `tokens` are those of the message.

    `call` is the one that it answers.
    """

    def __init__(self, message: Message, tokens: int, call: Call | CallOf | None = None) -> None:
        self._message = message
        self._tokens = tokens
        self._call = call

    def known(self) -> Details:
        """All of the details; the message is not needed any more."""
        return Details(*(getattr(self, name) for name in Details._fields))

    def answering(self, call: Call | CallOf) -> DetailsOf:
        """See `Details.answering`."""
        return DetailsOf(self._message, self._tokens, call)

    @cached_property
    def arguments_saving(self) -> int:
        """As in `Details`, like all that follow."""
        return max(0, sum(_arguments_saving(call.arguments) for call in self._message.calls))

    @cached_property
    def excerpts(self) -> tuple[int, ...]:
        result = self._message.result
        return () if result is None else _excerpt_tokens(result, self._tokens - counter.MESSAGE - counter.RESULT)

    @cached_property
    def is_failure(self) -> bool:
        result = self._message.result
        return result is not None and (result.is_error or _is_failure(result_text(result)))

    @cached_property
    def chars(self) -> int:
        result = self._message.result
        if result is not None:
            return utf16_units(result_text(result))
        return sum(utf16_units(part.text) for part in self._message.parts if isinstance(part, Text))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        result = self._message.result
        return sizes_of(self._message.parts if result is None else result.content)

    @cached_property
    def said_path(self) -> str:
        result = self._message.result
        return "" if result is None else said_path(result_text(result))

    @cached_property
    def read(self) -> Read | None:
        return self._call.read if self._call else None

    @cached_property
    def placeholders(self) -> tuple[int, ...]:
        return self._call.placeholders if self._call else ()


class EstimatedDetails:
    """The details of an entry by an estimate, by which its content takes `content` tokens and not `exact`.

    Savings and excerpts are in proportion; `placeholders_of` counts the placeholders of an entry. Each is computed when
    it is asked for: plans ask for those of few entries.
    """

    __slots__ = ("_content", "_entry", "_exact", "_placeholders_of")

    def __init__(
        self, entry: Facts, content: int, exact: int, placeholders_of: Callable[[Facts], tuple[int, ...]]
    ) -> None:
        self._entry = entry
        self._content = content
        self._exact = exact
        self._placeholders_of = placeholders_of

    def known(self) -> Details:
        """All of the details; the entry is not needed any more."""
        return Details(*(getattr(self, name) for name in Details._fields))

    def answering(self, call: Call | CallOf) -> Details:
        """See `Details.answering`."""
        return self.known().answering(call)

    @property
    def arguments_saving(self) -> int:
        """As in `Details`, like all that follow."""
        return self._entry.arguments_saving * self._content // self._exact

    @property
    def excerpts(self) -> tuple[int, ...]:
        return tuple(-(-tokens * self._content // self._exact) for tokens in self._entry.excerpts)

    @property
    def is_failure(self) -> bool:
        return self._entry.is_failure

    @property
    def chars(self) -> int:
        return self._entry.chars

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._entry.sizes

    @property
    def said_path(self) -> str:
        return self._entry.said_path

    @property
    def read(self) -> Read | None:
        return self._entry.read

    @property
    def placeholders(self) -> tuple[int, ...]:
        return self._placeholders_of(self._entry) if self._entry.placeholders else ()


class Facts(NamedTuple):
    """Everything that planning knows about one message; tokens are unscaled.

    `batches.place` sets `seq`, `unit` (the seq of the first message of its batch, or its own) and `is_late` (a result
    that answers no open call). `answers` is the id of the call that a result answers, `tool` the tool of that call. A
    result that names its tool alone gets both when it is placed. `bound` is the number of its parts that are bound to
    the messages before it, `seen` the view that these are bound to, None if it was not noted when the message arrived.
    `images` has the size of each of its images.
    """

    role: str
    tokens: int
    seq: int = 0
    unit: int = 0
    is_late: bool = False
    calls: tuple[Call | CallOf, ...] = ()
    answers: str | None = None
    tool: str = ""
    bound: int = 0
    seen: Seen | None = None
    images: tuple[ImageSize, ...] = ()
    details: Details | DetailsOf | EstimatedDetails = Details()

    # `_replace` takes several times as long as these, which every message passes.

    def at(self, seq: int, unit: int) -> Facts:
        """The facts with a seq and a unit."""
        return Facts._make((self.role, self.tokens, seq, unit, *self[4:]))

    def answering(self, call: Call | CallOf, seq: int, unit: int) -> Facts:
        """The facts of a result as that of this call, with a seq and a unit."""
        role, tokens, _, _, is_late, calls, _, _, *others, details = self
        return Facts._make(
            (role, tokens, seq, unit, is_late, calls, call.id, call.tool, *others, details.answering(call))
        )

    def counted(self, tokens: int, details: EstimatedDetails) -> Facts:
        """The facts by an estimate."""
        return Facts._make((self.role, tokens, *self[2:-1], details))

    @property
    def arguments_saving(self) -> int:
        """See `Details`, also for all that follow."""
        return self.details.arguments_saving

    @property
    def excerpts(self) -> tuple[int, ...]:
        return self.details.excerpts

    @property
    def is_failure(self) -> bool:
        return self.details.is_failure

    @property
    def chars(self) -> int:
        return self.details.chars

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.details.sizes

    @property
    def said_path(self) -> str:
        return self.details.said_path

    @property
    def read(self) -> Read | None:
        return self.details.read

    @property
    def placeholders(self) -> tuple[int, ...]:
        return self.details.placeholders


def facts_of(message: Message) -> Facts:
    """The facts of a message, before `batches.place` gives it a seq and a batch."""
    facts = facts_on_demand(message)
    return facts._replace(calls=tuple(call.known() for call in facts.calls), details=facts.details.known())


def facts_on_demand(message: Message) -> Facts:
    """The same facts, but for what nobody asked for yet: it keeps the message to find that."""
    result = message.result
    images = image_sizes(message)
    if is_empty(message):
        return Facts("assistant", 0, bound=message.bound_parts, images=images)
    tokens = counter.count_message(message)
    details = DetailsOf(message, tokens)
    if result is not None:
        tool = result.name or "" if result.call_id is None else ""
        return Facts("tool", tokens, answers=result.call_id or "", tool=tool, images=images, details=details)
    if message.role == "assistant":
        calls, bound = tuple(map(CallOf, message.calls)), message.bound_parts
        return Facts("assistant", tokens, calls=calls, bound=bound, images=images, details=details)
    return Facts(message.role, tokens, images=images, details=details)


def files_of(calls: Iterable[Call | CallOf]) -> Files:
    """The files that these calls read and change."""
    calls = list(calls)
    read = frozenset(call.read.path for call in calls if call.read)
    return Files(read, frozenset(call.changes for call in calls if call.changes))


def is_empty(message: Message) -> bool:
    """Whether an assistant message has nothing but reasoning and empty text.

    No provider takes such a message back: it stays an entry, its tokens are 0, and fitted views omit it.
    """
    return message.role == "assistant" and not any(map(_says_something, message.parts))


def _says_something(part: Part) -> bool:
    match part:
        case Text(text=text):
            return bool(text)
        case Other(kind=kind):
            return kind not in SEALED_KINDS
    return not isinstance(part, Thinking)


def _arguments_saving(arguments: str) -> int:
    shorter = excerpt_arguments(arguments)
    return 0 if shorter is arguments else counter.count_text(arguments) - counter.count_text(shorter)


def _is_failure(text: str) -> bool:
    return text[:32].lstrip().lower().startswith(FAILURE_PREFIXES)


def _excerpt_tokens(result: ToolResult, content_tokens: int) -> tuple[int, ...]:
    text = result_text(result)
    has_more_than_text = not all(isinstance(part, Text) for part in result.content)
    sizes = [chars for level, chars in enumerate(LEVELS) if has_more_than_text or is_worthwhile(text, level)]
    shorter = [counter.count_text(excerpt(text, chars)) for chars in sizes]
    return tuple([count if count < content_tokens else 0 for count in shorter])


_COLUMNS: Final = frozenset({"role", "tokens", "seq", "unit", "is_late"})
_OTHERS: Final = {name: value for name, value in Facts._field_defaults.items() if name not in {*_COLUMNS, "details"}}
_OF_DETAILS: Final = frozenset(Details._fields)
_EXTRAS: Final = {**_OTHERS, **Details._field_defaults}


def to_json(facts: Facts) -> dict[str, Any]:
    """The facts as JSON, without those that have their own columns; `from_json` is its inverse."""
    values = {name: value for name in _EXTRAS if (value := getattr(facts, name)) != _EXTRAS[name]}
    if facts.calls:
        values["calls"] = [call_to_json(call) for call in facts.calls]
    if facts.read:
        values["read"] = [*facts.read]
    if facts.seen:
        values["seen"] = [facts.seen.fixed, *(facts.seen.edits_at or ())]
    return values


def call_to_json(call: Call | CallOf) -> list[Any]:
    """A call as a JSON array; `call_from_json` is its inverse."""
    return [call.id, call.read and [*call.read], call.tool, call.changes, call.placeholders]


def from_json(facts: Facts, values: dict[str, Any]) -> Facts:
    """`facts` with the values that `to_json` wrote filled in."""
    details, others = {}, {}
    # A session of 40,000 entries has as many of these to read.
    for name, value in values.items():
        known = _FROM_JSON[name](value) if name in _FROM_JSON else value
        if name in _OF_DETAILS:
            details[name] = known
        elif name in _OTHERS:
            others[name] = known
    return Facts(facts.role, facts.tokens, facts.seq, facts.unit, facts.is_late, details=Details(**details), **others)


def call_from_json(value: Any) -> Call:
    """The call that `call_to_json` wrote. Arrays of other versions work too: shorter ones of older, longer of newer."""
    call_id, read, *rest = value
    placeholders = tuple(rest[2]) if rest[2:] else ()
    return Call(call_id, Read(*read) if read else None, *rest[:2])._replace(placeholders=placeholders)


def _image_size(stored: Any) -> ImageSize:
    """The size of an image as it is stored: an array, or its bytes alone, of before the sides were read."""
    return ImageSize(*stored) if isinstance(stored, list) else ImageSize(stored)


# How values come back that JSON has as arrays.
_FROM_JSON: Final[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "calls": lambda calls: tuple(map(call_from_json, calls)),
        "excerpts": tuple,
        "sizes": tuple,
        "images": lambda images: tuple(map(_image_size, images)),
        "placeholders": tuple,
        "read": lambda read: Read(*read) if read else None,
        "seen": lambda seen: Seen(seen[0], (seen[1], seen[2]) if seen[1:] else None) if seen else None,
    }
)
