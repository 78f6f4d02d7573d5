"""Which batch an arriving message belongs to, and which tool calls are still open after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from compaction.facts import Call, Facts, facts_of
from compaction.messages import Message
from compaction.wording import late_tokens, stub_tokens


class Tail(NamedTuple):
    """The end of a path: the batch a result may still join (0: none) and its calls without a result, in order."""

    unit: int = 0
    open_calls: tuple[Call, ...] = ()


class Placed(NamedTuple):
    """A message with its place: its facts, the tail after it, and what it adds to the view, in unscaled tokens."""

    facts: Facts
    tail: Tail
    added_tokens: int


def place(facts: Facts, seq: int, tail: Tail) -> Placed:
    """Give a message its seq and its batch.

    A result of an open call joins its batch. Any other result is late: it closes nothing, stays with the batch while
    that has open calls, and stands alone otherwise. Every other message closes what is open; the calls left without a
    result are stubbed in views from then on.
    """
    if facts.role != "tool":
        placed = facts._replace(seq=seq, unit=seq)
        return Placed(placed, Tail(seq, facts.calls), facts.tokens + stub_tokens() * len(tail.open_calls))
    call = next((call for call in tail.open_calls if call.id == facts.answers), None)
    if call is None:
        unit, after = (tail.unit, tail) if tail.open_calls else (seq, Tail())
        late = facts._replace(seq=seq, unit=unit, is_late=True, tokens=facts.tokens + late_tokens())
        return Placed(late, after, late.tokens)
    at = tail.open_calls.index(call)
    rest = (*tail.open_calls[:at], *tail.open_calls[at + 1 :])
    answered = facts._replace(seq=seq, unit=tail.unit, read=call.read, tool=call.tool)
    return Placed(answered, Tail(tail.unit, rest), answered.tokens)


def place_all(messages: Iterable[Message], first_seq: int = 1) -> tuple[list[Facts], Tail]:
    """The facts of all messages of a session, numbered from `first_seq` on, and the tail after the last."""
    facts: list[Facts] = []
    tail = Tail()
    for seq, message in enumerate(messages, first_seq):
        placed = place(facts_of(message), seq, tail)
        facts.append(placed.facts)
        tail = placed.tail
    return facts, tail
