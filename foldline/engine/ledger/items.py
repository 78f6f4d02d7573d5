"""The items of a ledger as data: what one message says that must survive, with who said it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias


class ItemKind(StrEnum):
    """What an item is; the values are stored.

    `SAID` is a sentence of no other kind, `CHANGED` and `READ` are files, `ENDING` is how a call ended.
    """

    RULE = "rule"
    REQUEST = "request"
    PLAN = "plan"
    DECISION = "decision"
    PREFERENCE = "preference"
    SAID = "said"
    CHANGED = "changed"
    READ = "read"
    CALL = "call"
    ENDING = "ending"
    FAILURE = "failure"


# The kinds of what people and models say in sentences.
SPOKEN: Final = frozenset({ItemKind.RULE, ItemKind.REQUEST, ItemKind.DECISION, ItemKind.PREFERENCE, ItemKind.SAID})


class Speaker(StrEnum):
    """Who said it. Only users and the system prompt make rules and requests; tools are quoted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SUMMARY = "summary"


class Item(NamedTuple):
    """One item: its text, and the id of the tool call that it belongs to, if any.

    `state` says more: of a plan's step whether it is under way (`doing`) or not begun (`open`), of a request that it is
    for `later`, of a call that it only `looks`.
    """

    kind: ItemKind
    text: str
    speaker: Speaker
    call: str = ""
    state: str = ""


# An item with the place (seq) of its entry on a path.
ItemAt: TypeAlias = tuple[int, Item]

# Items of one message that are kept; what more there is, is found by recall.
MOST_ITEMS: Final = 400
DOING: Final = "doing"
OPEN: Final = "open"
LATER: Final = "later"
LOOKS: Final = "looks"
# Of a failure, that the output begins with it; of an ending, that it is the fields of an object.
FIRST: Final = "first"
FIELDS: Final = "fields"
# The id of a command that was written as text, whose output comes in a user message.
WRITTEN_CALL: Final = "~"
ASIDE: Final = "aside"
# A line that stands in a summarizer's story, and in no message.
STORY: Final = "story"


_KINDS: Final = {kind.value: kind for kind in ItemKind}
_SPEAKERS: Final = {speaker.value: speaker for speaker in Speaker}


def items_to_json(items: Iterable[Item]) -> list[list[str]]:
    """Items as JSON arrays; `items_from_json` is its inverse."""
    return [[*item] for item in items]


def items_from_json(values: Sequence[Sequence[Any]]) -> list[Item]:
    """The items that `items_to_json` wrote, without those of kinds that only a newer version knows."""
    return [
        Item(_KINDS[kind], text, _SPEAKERS[speaker], *rest[:2])
        for kind, text, speaker, *rest in values
        if kind in _KINDS and speaker in _SPEAKERS
    ]
