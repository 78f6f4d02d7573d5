"""Which batch an arriving message belongs to, and which tool calls are still open after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from foldline.engine.facts import Call, Facts, facts_of
from foldline.engine.messages import BRANCH_ROLE, Message
from foldline.engine.wording import late_tokens, stub_tokens


class Tail(NamedTuple):
    """The end of a path: the batch a result may still join (0: none) and its calls without a result, in order."""

    unit: int = 0
    open_calls: tuple[Call, ...] = ()


class Placed(NamedTuple):
    """A message with its place: its facts, the tail after it, and how many calls it leaves without a result."""

    facts: Facts
    tail: Tail
    stubs: int = 0

    @property
    def added_tokens(self) -> int:
        """What it adds to the view, in unscaled tokens."""
        return self.facts.tokens + stub_tokens() * self.stubs


class Orphan(NamedTuple):
    """A call without its result, or a result without its call: the seq of its message, and the call's id."""

    seq: int
    call_id: str


class Orphans(NamedTuple):
    """What a view has to mend, in order: calls that get a stub, and results that are quoted as text."""

    calls: tuple[Orphan, ...] = ()
    results: tuple[Orphan, ...] = ()


def place(facts: Facts, seq: int, tail: Tail) -> Placed:
    """Give a message its seq and its batch.

    A result of an open call joins its batch. Any other result is late: it closes nothing, stays with the batch while
    that has open calls, and stands alone otherwise. Every other message closes what is open; the calls left without a
    result are stubbed in views from then on. The summary of a branch closes nothing: it stays with an open batch too.
    """
    if facts.role == BRANCH_ROLE and tail.open_calls:
        return Placed(facts._replace(seq=seq, unit=tail.unit, is_late=True), tail)
    if facts.role != "tool":
        placed = facts._replace(seq=seq, unit=seq)
        return Placed(placed, Tail(seq, facts.calls), len(tail.open_calls))
    call = next((call for call in tail.open_calls if call.id == facts.answers), None)
    if call is None:
        unit, after = (tail.unit, tail) if tail.open_calls else (seq, Tail())
        late = facts._replace(seq=seq, unit=unit, is_late=True, tokens=facts.tokens + late_tokens())
        return Placed(late, after)
    at = tail.open_calls.index(call)
    rest = (*tail.open_calls[:at], *tail.open_calls[at + 1 :])
    answered = facts._replace(seq=seq, unit=tail.unit, read=call.read, tool=call.tool)
    return Placed(answered, Tail(tail.unit, rest))


def place_all(messages: Iterable[Message], first_seq: int = 1) -> tuple[list[Facts], Tail]:
    """The facts of all messages of a session, numbered from `first_seq` on, and the tail after the last."""
    facts: list[Facts] = []
    tail = Tail()
    for seq, message in enumerate(messages, first_seq):
        placed = place(facts_of(message), seq, tail)
        facts.append(placed.facts)
        tail = placed.tail
    return facts, tail


def orphans_of(placed: Iterable[Facts]) -> Orphans:
    """What has no counterpart among messages as `place_all` placed them, those of an open batch included.

    Calls and results pair by id within a batch, in any order: a result that comes after its batch was closed leaves its
    call without one, and is an orphan itself. Of calls that share an id, the last ones are without a result.
    """
    unanswered: dict[int, list[str]] = {}
    results: list[Orphan] = []
    for facts in placed:
        if facts.is_late and facts.answers is not None:
            results.append(Orphan(facts.seq, facts.answers))
        elif facts.answers is not None:
            unanswered[facts.unit].remove(facts.answers)
        elif facts.calls:
            unanswered[facts.seq] = [call.id for call in facts.calls]
    calls = (Orphan(seq, call_id) for seq, call_ids in unanswered.items() for call_id in call_ids)
    return Orphans(tuple(calls), tuple(results))
