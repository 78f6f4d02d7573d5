"""Conversations with planted facts, piece by piece: a long first piece, and a shorter one for each further round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, Final

from benchmarks.fidelity.carriers import CARRIERS, among_others
from benchmarks.fidelity.facts import Fact, fact_of

JsonDict = dict[str, Any]
FIRST_CHARS: Final = 40_000
# Each further round appends this share of the first piece's characters.
FURTHER_SHARE: Final = 0.25
FIRST_FACTS: Final = 36
# New facts in the further pieces, in turn.
FURTHER_FACTS: Final = (2, 1)
# Of these many facts, one is replaced or resolved later.
ONE_SETTLED_OF: Final = 5


@dataclass(slots=True)
class Piece:
    """What is appended in a round: its messages, the facts said in it, and those changed or resolved in it."""

    messages: list[JsonDict] = field(default_factory=list)
    said: list[Fact] = field(default_factory=list)
    settled: list[Fact] = field(default_factory=list)


def pieces(carrier: str, templates: Sequence[JsonDict], rounds: int, seed: int) -> list[Piece]:
    """The pieces of a conversation. What replaces a value or resolves an error is said in a later piece.

    Each piece ends with a plain request of the user, as views keep the last user message.
    """
    random = Random(f"{carrier} {rounds} {seed}")
    drawn = _drawn(templates, random)
    waiting: list[Fact] = []
    made: list[Piece] = []
    for number in range(rounds + 1):
        new = FURTHER_FACTS[number % len(FURTHER_FACTS)] if number else FIRST_FACTS
        piece = Piece(said=[fact_of(next(drawn), random) for _ in range(new)], settled=waiting[:1])
        waiting = [*waiting[1:], *(fact for fact in piece.said if fact.later)]
        chars = int(FIRST_CHARS * (FURTHER_SHARE if number else 1))
        said = [_in_passing(fact.messages, random) for fact in piece.said]
        said += [_in_passing(fact.later, random) for fact in piece.settled]
        piece.messages = _mixed(carrier, said, chars, random)
        made.append(piece)
    return made


def _in_passing(messages: Sequence[JsonDict], random: Random) -> list[JsonDict]:
    """The messages of a fact; every second text of a user or assistant says other things as well."""
    return [
        {**message, "content": among_others(message["content"], random)}
        if message["role"] != "tool" and "tool_calls" not in message and random.random() < 0.5
        else message
        for message in messages
    ]


def _drawn(templates: Sequence[JsonDict], random: Random) -> Iterator[JsonDict]:
    """Templates in random order, each as often as the others; every fifth is one that has something said later."""
    settled, others = (
        _shuffled([template for template in templates if ("later" in template) is has_later], random)
        for has_later in (True, False)
    )
    for number in count():
        yield next(others if number % ONE_SETTLED_OF else settled)


def _shuffled(templates: Sequence[JsonDict], random: Random) -> Iterator[JsonDict]:
    while True:
        yield from random.sample(templates, len(templates))


def _mixed(carrier: str, said: Sequence[list[JsonDict]], chars: int, random: Random) -> list[JsonDict]:
    filler: list[list[JsonDict]] = []
    left = chars - sum(map(size_of, said))
    while left > 0:
        exchange = [message for group in CARRIERS[carrier](random) for message in group]
        left -= size_of(exchange)
        filler.append(exchange)
    places = sorted(random.randrange(len(filler) + 1) for _ in said)
    messages: list[JsonDict] = []
    for index, exchange in enumerate(filler):
        messages += [message for place, group in zip(places, said, strict=True) if place == index for message in group]
        messages += exchange
    messages += [
        message for place, group in zip(places, said, strict=True) if place == len(filler) for message in group
    ]
    return [*messages, {"role": "user", "content": "Good, let us go on from here."}]


def size_of(messages: Sequence[JsonDict]) -> int:
    """The characters of messages: texts, arguments and results."""
    return sum(len(text_of(message)) for message in messages)


def text_of(message: JsonDict) -> str:
    """What a message says: its text, and the names and arguments of its calls."""
    calls = message.get("tool_calls") or ()
    said = [f"{wanted['function']['name']} {wanted['function']['arguments']}" for wanted in calls]
    return "\n".join(filter(None, (message.get("content"), *said)))
