"""Replays sessions under one policy, and compacts them to explicit targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.prefix_cost.agent import Agent, JsonDict, Summaries, fresh_store
from benchmarks.prefix_cost.cost import Cost, Meter
from foldline.engine.errors import FixedPartsDoNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.tokens.counter import count_messages
from foldline.engine.wording import summary_frame_tokens
from foldline.log.storage.store import Store
from foldline.replay.steps import steps_of
from foldline.replay.transcripts import Transcript

# A summary's input is cached nowhere; its output costs five times as much, as Anthropic publishes it.
WRITTEN: Final = 5.0


@dataclass(slots=True)
class Replayed:
    """The calls of all sessions, those that had no view, and the tokens of summaries."""

    cost: Cost = field(default_factory=Cost)
    refused: int = 0
    summaries: Summaries = field(default_factory=Summaries)

    @property
    def summary_units(self) -> float:
        """What the summaries cost, as tokens at the input price."""
        return self.summaries.read + WRITTEN * self.summaries.written


def replayed(sessions: Sequence[Transcript], window: int, policy: Mapping[str, Any]) -> Replayed:
    """The sessions' calls in this window; a session whose fixed parts leave no room has none."""
    total = Replayed()
    with fresh_store() as store:
        for session in sessions:
            try:
                agent = Agent(store, session, window, policy)
            except FixedPartsDoNotFit:
                continue
            _replay(agent, session, total)
    return total


def _replay(agent: Agent, session: Transcript, total: Replayed) -> None:
    meter = Meter(agent.fixed_tokens)
    for step in steps_of(session.messages, session.format):
        if step.before:
            agent.append(step.before)
        view = agent.view()
        if view is None:
            total.refused += 1
        else:
            meter.call(view)
        agent.write_summaries()
        if step.answer:
            agent.append(step.answer)
    total.cost.add(meter.cost)
    total.summaries.read += agent.summaries.read
    total.summaries.written += agent.summaries.written
    total.summaries.number += agent.summaries.number


def uncompacted(sessions: Sequence[Transcript], fixed_tokens: Mapping[str, int]) -> Replayed:
    """The same calls with everything that was said so far, however much that is."""
    total = Replayed()
    for session in sessions:
        if session.id not in fixed_tokens:
            continue
        meter, parse = Meter(fixed_tokens[session.id]), FORMATS[session.format].parse
        said = []
        for step in steps_of(session.messages, session.format):
            said += parse(step.before)
            meter.call(said)
            said += parse(step.answer)
        total.cost.add(meter.cost)
    return total


def with_room(sessions: Sequence[Transcript], window: int, policies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The sessions that all policies have room for in this window: their ids and the tokens of their fixed parts."""
    found: dict[str, int] = {}
    with fresh_store() as store:
        for session in sessions:
            try:
                agents = [Agent(store, session, window, policy) for policy in policies]
            except FixedPartsDoNotFit:
                continue
            found[session.id] = agents[0].fixed_tokens
    return found


def uses_of_target(sessions: Sequence[Transcript], window: int, shares: Sequence[float]) -> list[float]:
    """The use of explicit targets, each a share of the budget: tokens in view after the compaction over the target.

    Each session is compacted once for each target, as soon as its view does not fit the window any more, or at its end.
    A target that the view has reached already is left out, and so is one that nothing can reach: the fixed parts, the
    last user message, the newest batch and the smallest summary take more.
    """
    with fresh_store() as store:
        return [use for session in sessions for share in shares for use in _use(store, session, window, share)]


def _use(store: Store, session: Transcript, window: int, share: float) -> Iterator[float]:
    try:
        agent = Agent(store, session, window, None)
    except FixedPartsDoNotFit:
        return
    last_user: JsonDict = {}
    newest: list[JsonDict] = []
    for message in session.messages:
        agent.append([message])
        last_user = message if message["role"] == "user" else last_user
        newest = [*newest, message] if message["role"] == "tool" else [message]
        if agent.used() > agent.limit:
            break
    target = int(agent.limit * share)
    parsed = FORMATS[session.format].parse([last_user, *newest] if last_user else newest)
    least = agent.fixed_tokens + count_messages(parsed) + summary_frame_tokens() + SMALLEST_SUMMARY
    if least <= target < agent.used():
        agent.compact(target)
        yield agent.used() / target
