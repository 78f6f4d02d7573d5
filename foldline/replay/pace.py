"""Computes how often a policy may compact a session, and how full the views are afterwards, from the policy's goals."""

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
from foldline.replay.steps import TranscriptProgress
from foldline.replay.transcripts import Transcript

NOT_CALIBRATED: Final = 1000
# Stages that clear all they may, also beyond the target.
CLEARING_ALL: Final = frozenset({"strip", "microcompact"})


@dataclass(frozen=True, slots=True)
class Pace:
    """The most that a session may be compacted: `rounds` of `compactions` each, one inline and the others summaries.

    A round leaves the view at `target`, a share of its budget; or below it, if a stage does not stop at the target.
    """

    rounds: int
    compactions: int
    target: float
    stops_at_target: bool = True


def pace_of(policy: Policy, frame: Frame, transcript: Transcript, progress: TranscriptProgress) -> Pace:
    """The pace of a session that has got this much of a transcript.

    A round needs as many new tokens as lie between target and trigger, by the exact count or by the policy's. If the
    two are equal, any append may start a round.
    """
    entries = list(map(facts_of, FORMATS[transcript.format].parse(transcript.messages[: progress.messages])))
    exact = frame.goals(policy, progress.fixed_tokens, NOT_CALIBRATED)
    gauge = frame.gauge(policy, exact, Fixed(transcript.system, dumps(list(transcript.tools))))
    counted = sum(entry.tokens for entry in entries)
    seen = sum(gauge.measure.counted(entry).tokens for entry in entries)
    rounds = max(_rounds(exact, counted, progress.appends), _rounds(gauge.goals, seen, progress.appends))
    target = min(exact.target, gauge.goals.target * counted // max(1, seen))
    budget = frame.budget(policy)
    share = (progress.fixed_tokens + target) / budget.limit
    return Pace(rounds, 1 + _summaries(policy, budget.window), share, all(map(_stops_at_target, policy.stages)))


def _rounds(goals: Goals, tokens: int, appends: int) -> int:
    between = min(goals.trigger, goals.limit) - goals.target
    return ceil(tokens / between) if between > 0 else appends


def _stops_at_target(stage: Stage) -> bool:
    """Whether the stage clears no more than is needed to reach the target."""
    return bool(stage.number("stops_at_target")) if stage.name == "prune" else stage.name not in CLEARING_ALL


def _summaries(policy: Policy, window: int) -> int:
    """The most summaries in a round: together they cover at most one window, each one chunk of it."""
    own = policy.stage("summarize")
    chunks = filter(None, (int(window * own.share("chunk_share")), own.number("chunk_tokens")))
    return ceil(window / min(chunks, default=window))
