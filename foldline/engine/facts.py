"""The facts of an entry: everything that planning knows about it.

They are counted once, when the message arrives, before any lock is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
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


class Seen(NamedTuple):
    """The view that the model saw when it wrote a message: what its signed reasoning is bound to.

    `fixed` is a digest of model, system prompt, tools and pins; "" if it is not known which view it was. `edits_at` is
    the branch and seq of the newest compaction, undo or redo in it.
    """

    fixed: str = ""
    edits_at: tuple[int, int] | None = None


class Facts(NamedTuple):
    """Everything that planning knows about one message; tokens are unscaled.

    `batches.place` sets `seq`, `unit` (the seq of the first message of its batch, or its own) and `is_late` (a result
    that answers no open call). `answers` is the id of the call that a result answers, `tool` the tool of that call. A
    result that names its tool alone gets both when it is placed.
    `arguments_saving` is the tokens saved when the arguments of its calls are cut. `excerpts` has the tokens of the
    result's content at each level of `excerpts.LEVELS`, 0 for a level that saves nothing. `chars` is the length of its
    text in UTF-16 units. `sizes` has the size of its parts by each estimate of `estimates.SIZED`. `bound` is the number
    of its parts that are bound to the messages before it, `seen` the view that these are bound to, None if it was not
    noted when the message arrived. `images` has the size of each of its images. `said_path` is the path of the file
    that a result shows according to its own first line. `placeholders` of a result are those of its call; without any,
    its placeholders name nothing.
    """

    role: str
    tokens: int
    seq: int = 0
    unit: int = 0
    is_late: bool = False
    calls: tuple[Call, ...] = ()
    arguments_saving: int = 0
    answers: str | None = None
    excerpts: tuple[int, ...] = ()
    read: Read | None = None
    is_failure: bool = False
    chars: int = 0
    tool: str = ""
    sizes: tuple[int, ...] = ()
    bound: int = 0
    seen: Seen | None = None
    images: tuple[ImageSize, ...] = ()
    said_path: str = ""
    placeholders: tuple[int, ...] = ()


def facts_of(message: Message) -> Facts:
    """The facts of a message, before `batches.place` gives it a seq and a batch."""
    result = message.result
    if result is not None:
        facts = _result_facts(result)
    elif message.role == "assistant":
        facts = _assistant_facts(message)
    else:
        facts = Facts(
            message.role, counter.count_message(message), chars=_chars(message), sizes=sizes_of(message.parts)
        )
    images = image_sizes(message)
    return facts._replace(images=images) if images else facts


def _chars(message: Message) -> int:
    return sum(utf16_units(part.text) for part in message.parts if isinstance(part, Text))


def files_of(calls: Iterable[Call]) -> Files:
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


def _assistant_facts(message: Message) -> Facts:
    if is_empty(message):
        return Facts("assistant", 0, bound=message.bound_parts)
    calls = message.calls
    return Facts(
        "assistant",
        counter.count_message(message),
        calls=tuple(map(_call_of, calls)),
        arguments_saving=max(0, sum(_arguments_saving(call.arguments) for call in calls)),
        chars=_chars(message),
        sizes=sizes_of(message.parts),
        bound=message.bound_parts,
    )


def _call_of(call: ToolCall) -> Call:
    read = read_of(call)
    placeholders = placeholder_tokens(call.name, read.path if read else "")
    return Call(call.id, read, call.name, change_of(call), placeholders)


def _arguments_saving(arguments: str) -> int:
    shorter = excerpt_arguments(arguments)
    return 0 if shorter is arguments else counter.count_text(arguments) - counter.count_text(shorter)


def _result_facts(result: ToolResult) -> Facts:
    content_tokens = counter.count_parts(result.content)
    text = result_text(result)
    has_more_than_text = not all(isinstance(part, Text) for part in result.content)
    return Facts(
        "tool",
        counter.MESSAGE + counter.RESULT + content_tokens,
        answers=result.call_id or "",
        tool=result.name or "" if result.call_id is None else "",
        excerpts=_excerpt_tokens(text, content_tokens, has_more_than_text=has_more_than_text),
        is_failure=result.is_error or text[:32].lstrip().lower().startswith(FAILURE_PREFIXES),
        chars=utf16_units(text),
        sizes=sizes_of(result.content),
        said_path=said_path(text),
    )


def _excerpt_tokens(text: str, content_tokens: int, *, has_more_than_text: bool) -> tuple[int, ...]:
    levels = [level for level in range(len(LEVELS)) if has_more_than_text or is_worthwhile(text, level)]
    shorter = (counter.count_text(excerpt(text, LEVELS[level])) for level in levels)
    return tuple(count if count < content_tokens else 0 for count in shorter)


_COLUMNS: Final = frozenset({"role", "tokens", "seq", "unit", "is_late"})
_EXTRAS: Final = {name: value for name, value in Facts._field_defaults.items() if name not in _COLUMNS}


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


def _image_size(stored: Any) -> ImageSize:
    """The size of an image as it is stored: an array, or its bytes alone, of before the sides were read."""
    return ImageSize(*stored) if isinstance(stored, list) else ImageSize(stored)


def call_to_json(call: Call) -> list[Any]:
    """A call as a JSON array; `call_from_json` is its inverse."""
    return [call.id, call.read and [*call.read], call.tool, call.changes, call.placeholders]


def from_json(facts: Facts, values: dict[str, Any]) -> Facts:
    """`facts` with the values that `to_json` wrote filled in."""
    known = {name: values.get(name, default) for name, default in _EXTRAS.items()}
    calls, read, seen = known["calls"], known["read"], known["seen"]
    known |= {
        "calls": tuple(call_from_json(call) for call in calls),
        "excerpts": tuple(known["excerpts"]),
        "sizes": tuple(known["sizes"]),
        "images": tuple(map(_image_size, known["images"])),
        "placeholders": tuple(known["placeholders"]),
        "read": Read(*read) if read else None,
        "seen": Seen(seen[0], (seen[1], seen[2]) if seen[1:] else None) if seen else None,
    }
    return facts._replace(**known)


def call_from_json(value: Any) -> Call:
    """The call that `call_to_json` wrote. Arrays of other versions work too: shorter ones of older, longer of newer."""
    call_id, read, *rest = value
    placeholders = tuple(rest[2]) if rest[2:] else ()
    return Call(call_id, Read(*read) if read else None, *rest[:2])._replace(placeholders=placeholders)
