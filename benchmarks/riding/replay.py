"""Replays sessions whose summarizer is their own model, and prices each summary's input in both forms.

The clock runs as fast as the replay, so that no cache grows old.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from benchmarks.prefix_cost.agent import Agent, fresh_store
from foldline.engine.errors import FixedPartsDoNotFit
from foldline.engine.models.prices import MILLION, Prices
from foldline.engine.models.windows import known_model
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.summaries.riding import input_costs, transcript_tokens
from foldline.engine.tokens.counter import count_text
from foldline.log.storage.store import RidingModel
from foldline.replay.steps import steps_of
from foldline.replay.transcripts import Transcript

OWN: Final = "own"


@dataclass(slots=True)
class Rides:
    """The summaries of all sessions.

    `ratios` has the cost of the view over that of the transcript for each summary that could ride. `paid` is what all
    summaries cost if each has the cheaper form, and `without` what they cost as transcripts; US dollars, with answers.
    """

    prices: Prices
    summaries: int = 0
    ratios: list[float] = field(default_factory=list)
    paid: float = 0.0
    without: float = 0.0

    def add(self, request: SummaryInput, text: str) -> None:
        """Count one summary."""
        answer = self.prices.cost(0, count_text(text)) or 0.0
        transcript = transcript_tokens(request) * (self.prices.input or 0.0) / MILLION
        costs = input_costs(request, self.prices)
        self.summaries += 1
        self.without += transcript + answer
        self.paid += (min(costs) if costs else transcript) + answer
        if costs:
            self.ratios.append(costs.view / costs.transcript)

    @property
    def cheaper(self) -> int:
        """The number of summaries whose view costs less than a transcript."""
        return sum(ratio < 1 for ratio in self.ratios)


def rides(
    sessions: Sequence[Transcript], window: int, policy: Mapping[str, Any], model: str, wire_format: str
) -> Rides:
    """What the summaries of these sessions cost in this window; a session whose fixed parts leave no room has none."""
    known = known_model(model)
    if known is None or known.prices is None:
        raise LookupError(model)
    found = Rides(known.prices)
    with fresh_store() as store:
        riding = {OWN: RidingModel(model, wire_format)}
        store.limits = replace(store.limits, summarizers=frozenset({OWN}), usual=(OWN,), riding=riding)
        for session in sessions:
            try:
                agent = Agent(store, session, window, policy, model=model, on_summary=found.add)
            except FixedPartsDoNotFit:
                continue
            _replay(agent, session)
    return found


def _replay(agent: Agent, session: Transcript) -> None:
    for step in steps_of(session.messages, session.format):
        if step.before:
            agent.append(step.before)
        agent.write_summaries()
        if step.answer:
            agent.append(step.answer)
