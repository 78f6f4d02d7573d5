"""Batches: the batch that an arriving message belongs to, and the calls that are open after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from foldline.engine.errors import InvalidMessage
from foldline.engine.facts import Call, CallOf, Facts, facts_on_demand
from foldline.engine.messages import BRANCH_ROLE, Message
from foldline.engine.wording import late_tokens, stub_tokens

# Each result is held against the open calls, and each entry stores those after it, so a batch costs their square.
CALLS_MAX: Final = 256


class Tail(NamedTuple):
    """The end of a path: the seq of the batch that a result may join (0: none), and its open calls in order."""

    unit: int = 0
    open_calls: tuple[Call | CallOf, ...] = ()


class Placed(NamedTuple):
    """A message at its place: its facts, the tail after it, and the number of calls it leaves without a result."""

    facts: Facts
    tail: Tail
    stubs: int = 0

    @property
    def added_tokens(self) -> int:
        """The unscaled tokens that it adds to the view, with stubs for those calls."""
        return self.facts.tokens + stub_tokens() * self.stubs


class Orphan(NamedTuple):
    """A call without its result, or a result without its call: the seq of its message, and the call's id."""

    seq: int
    call_id: str


class Orphans(NamedTuple):
    """The calls that get a stub in a view and the results that are quoted as text, in order."""

    calls: tuple[Orphan, ...] = ()
    results: tuple[Orphan, ...] = ()


def place(facts: Facts, seq: int, tail: Tail) -> Placed:
    """Give a message its seq and its batch.

    A result of an open call joins its batch; one that names the tool alone is that of the tool's first open call. Any
    other result is late and closes nothing: it belongs to the batch while that has open calls, else it stands alone. A
    branch summary too closes nothing and belongs to an open batch. Every other message closes the batch; from then on,
    views stub its calls without a result.

    Raises:
        InvalidMessage: the message has more than `CALLS_MAX` calls.
    """
    if len(facts.calls) > CALLS_MAX:
        detail = f"must not have a message with more than {CALLS_MAX} tool calls; one has {len(facts.calls)}"
        raise InvalidMessage("messages", detail)
    if facts.role == BRANCH_ROLE and tail.open_calls:
        return Placed(facts._replace(seq=seq, unit=tail.unit, is_late=True), tail)
    if facts.role != "tool":
        return Placed(facts.at(seq, seq), Tail(seq, facts.calls), len(tail.open_calls))
    for at, call in enumerate(tail.open_calls):
        if _is_answered(call, facts):
            rest = tail.open_calls[:at] + tail.open_calls[at + 1 :]
            return Placed(facts.answering(call, seq, tail.unit), Tail(tail.unit, rest))
    unit, after = (tail.unit, tail) if tail.open_calls else (seq, Tail())
    late = facts._replace(seq=seq, unit=unit, is_late=True, tokens=facts.tokens + late_tokens())
    return Placed(late, after)


def _is_answered(call: Call | CallOf, facts: Facts) -> bool:
    return call.id == facts.answers or (not facts.answers and bool(call.tool) and call.tool == facts.tool)


def place_all(messages: Iterable[Message], first_seq: int = 1) -> tuple[list[Facts], Tail]:
    """The facts on demand of all messages, with seqs from `first_seq` on, and the tail after the last."""
    facts: list[Facts] = []
    tail = Tail()
    for seq, message in enumerate(messages, first_seq):
        placed = place(facts_on_demand(message), seq, tail)
        facts.append(placed.facts)
        tail = placed.tail
    return facts, tail


def orphans_of(placed: Iterable[Facts]) -> Orphans:
    """The calls and results without a counterpart among placed messages, calls of an open batch included.

    Calls and results pair by id within a batch, in any order. A result that arrives after its batch was closed is an
    orphan, and so is its call. If calls share an id and results are missing, the last of these calls are orphans.
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
