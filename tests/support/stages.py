"""Runs one stage on a session without edits."""

from __future__ import annotations

from collections.abc import Iterable

from foldline.engine.messages import Message
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages import STAGES
from foldline.engine.policies.policy import Stage
from tests.support.conversations import Conversation


def cleared_by(stage: Stage, messages: Iterable[Message], goals: Goals) -> list[int]:
    """The seqs of the results that the stage clears; it must not do anything else."""
    outline = Conversation.of(messages).outline
    parameters = Parameters(goals, is_asked=True, has_target=False, own=stage)
    plan = STAGES[stage.name](outline, Plan(outline.tokens), parameters)
    assert {edit.kind for edit in plan.edits} <= {"clear"}
    return sorted(plan.cells)
