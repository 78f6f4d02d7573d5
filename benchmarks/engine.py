"""The engine's rows: planning against parsing the session; counting and the library against the bare tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from benchmarks.harness import Row, seconds
from benchmarks.prefix_cost.corpus import parsed, sessions
from benchmarks.transcripts import transcript
from foldline import InMemorySession, compact
from foldline.engine.edits import LiveEdits
from foldline.engine.formats import FORMATS
from foldline.engine.ledger.find import items_of
from foldline.engine.messages import Message
from foldline.engine.models.budget import budget_of, goals_of
from foldline.engine.models.windows import ContextWindow
from foldline.engine.outline import outline_of
from foldline.engine.planning.batches import place_all
from foldline.engine.planning.pipeline import make_plan
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_messages, exact_counter

ENTRIES = 10_000
WINDOW = 128_000
# Runs of each side in a round, so that no side is timed only with the other's data in the caches.
REPEATS = 5


def rows() -> list[Row]:
    """The rows: over one generated session of 10,000 entries, and one over the sessions of `corpus`."""
    wire = transcript(ENTRIES)
    messages = FORMATS["openai"].parse(wire)
    compacting = [_compacting(wire[:number], messages[:number]) for number in (2_000, ENTRIES)]
    return [
        _planning(orjson.dumps(wire), messages),
        _counting(messages),
        *compacting,
        _growing(wire, messages),
        _ledger(),
    ]


def _compacting(wire: list[dict[str, Any]], messages: list[Message]) -> Row:
    """At most 2: the tokenizer takes at least half of the time."""
    return Row(
        name=f"compact {len(wire):,} messages in one call of the library",
        ours=f"compact, {WINDOW // 1000}k window",
        theirs="the bare tokenizer on the same texts",
        time_ours=lambda: _each(lambda: compact(wire, context_window=WINDOW)),
        time_theirs=_tokenizing(messages),
        at_most=2.0,
    )


def _growing(wire: list[dict[str, Any]], messages: list[Message]) -> Row:
    return Row(
        name=f"add {len(wire):,} messages in memory, a view before each call",
        ours=f"InMemorySession, {WINDOW // 1000}k window",
        theirs="the bare tokenizer on the same texts",
        time_ours=lambda: seconds(lambda: _views(wire)),
        time_theirs=_tokenizing(messages),
        at_most=40.0,
        rounds=3,
    )


def _views(wire: list[dict[str, Any]]) -> None:
    session = InMemorySession(context_window=WINDOW)
    for message in wire:
        if message["role"] == "assistant":
            session.view()
        session.add([message])


def _ledger() -> Row:
    messages = [message for session in sessions() for message in parsed(session)]
    size = sum(len(orjson.dumps(message.source)) for message in messages)
    return Row(
        name=f"the ledger of {len(messages)} messages of sessions",
        ours="items_of",
        theirs="5 MB/s",
        time_ours=lambda: seconds(lambda: [items_of(message) for message in messages]),
        time_theirs=lambda: size / 5_000_000,
        at_most=1.0,
    )


def _planning(body: bytes, messages: list[Message]) -> Row:
    outline = outline_of(place_all(messages)[0], LiveEdits())
    policy = PRESETS["foldline"]
    goals = goals_of(policy, budget_of(ContextWindow(WINDOW)).limit, 0, 1000)
    return Row(
        name="plan the cheap stages over 10,000 entries",
        ours=f"make_plan, {WINDOW // 1000}k window",
        theirs="orjson.loads of the session",
        time_ours=lambda: _each(lambda: make_plan(outline, policy.stages, goals)),
        time_theirs=lambda: _each(lambda: orjson.loads(body)),
        at_most=1 / 25,
    )


def _each(work: Callable[[], object]) -> float:
    """The average seconds of several runs in a row; none of them keeps its result."""

    def run() -> None:
        for _ in range(REPEATS):
            work()

    return seconds(run) / REPEATS


def _counting(messages: list[Message]) -> Row:
    return Row(
        name="count the tokens of 10,000 messages",
        ours="count_messages",
        theirs="the bare tokenizer on the same texts",
        time_ours=lambda: seconds(lambda: count_messages(messages)),
        time_theirs=_tokenizing(messages),
        at_most=1 / 0.8,
    )


def _tokenizing(messages: list[Message]) -> Callable[[], float]:
    """Times the bare tokenizer on the texts of these messages."""
    count = exact_counter()
    texts = [text for message in messages for text in _texts(message)]
    return lambda: _each(lambda: [count(text) for text in texts])


def _texts(message: Message) -> list[str]:
    texts = [message.text] if message.text else []
    for call in message.calls:
        texts += [call.name, call.arguments]
    if message.result is not None:
        texts += [getattr(part, "text", "") for part in message.result.content]
    return texts
