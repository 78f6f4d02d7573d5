"""How often a policy may compact in a session, and how full that leaves its views, by the policy's own goals."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from foldline.engine.facts import facts_of
from foldline.engine.formats import FORMATS
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Fixed, Frame
from foldline.engine.policies.policy import Policy, Stage
from foldline.engine.wire import dumps
from foldline.replay.steps import Said
from foldline.replay.transcripts import Transcript

NOT_CALIBRATED: Final = 1000
# Stages that clear all they may once they are at it, whatever the target.
CLEARING_ALL: Final = frozenset({"strip", "microcompact"})


@dataclass(frozen=True, slots=True)
class Pace:
    """What came in explains so many `rounds` of at most `compactions` each, one of them inline, the others summaries.

    A round leaves the view at `target`, a share of its budget, or where not all `stops_at_target`, at that or below.
    """

    rounds: int
    compactions: int
    target: float
    stops_at_target: bool = True


def pace_of(policy: Policy, frame: Frame, transcript: Transcript, said: Said) -> Pace:
    """The pace of a session that has been told this much of a transcript.

    From target to trigger text has to come in, as we count or as the policy does; then there is a round. Where nothing
    lies between the two, any append may lead to one.
    """
    entries = list(map(facts_of, FORMATS[transcript.format].parse(transcript.messages[: said.messages])))
    exact = frame.goals(policy, said.fixed_tokens, NOT_CALIBRATED)
    gauge = frame.gauge(policy, exact, Fixed(transcript.system, dumps(list(transcript.tools))))
    counted = sum(entry.tokens for entry in entries)
    seen = sum(gauge.measure.counted(entry).tokens for entry in entries)
    rounds = max(_rounds(exact, counted, said.appends), _rounds(gauge.goals, seen, said.appends))
    target = min(exact.target, gauge.goals.target * counted // max(1, seen))
    budget = frame.budget(policy)
    share = (said.fixed_tokens + target) / budget.limit
    return Pace(rounds, 1 + _summaries(policy, budget.window), share, all(map(_stops_at_target, policy.stages)))


def _rounds(goals: Goals, tokens: int, appends: int) -> int:
    between = min(goals.trigger, goals.limit) - goals.target
    return ceil(tokens / between) if between > 0 else appends


def _stops_at_target(stage: Stage) -> bool:
    """Whether the stage clears no more than it takes to reach the target."""
    return bool(stage.number("stops_at_target")) if stage.name == "prune" else stage.name not in CLEARING_ALL


def _summaries(policy: Policy, window: int) -> int:
    """How many summaries a round may take, each of a chunk: what they cover is no more than a window."""
    own = policy.stage("summarize")
    chunks = filter(None, (int(window * own.share("chunk_share")), own.number("chunk_tokens")))
    return ceil(window / min(chunks, default=window))
