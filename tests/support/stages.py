"""One stage on a session without edits."""

from __future__ import annotations

from collections.abc import Iterable

from compaction.budget import Goals
from compaction.messages import Message
from compaction.plan import Parameters, Plan
from compaction.policy import Stage
from compaction.stages import STAGES
from tests.support.conversations import Conversation


def cleared_by(stage: Stage, messages: Iterable[Message], goals: Goals) -> list[int]:
    """The seqs of the results that the stage clears; it does nothing else."""
    outline = Conversation.of(messages).outline
    parameters = Parameters(goals, is_asked=True, has_target=False, own=stage)
    plan = STAGES[stage.name](outline, Plan(outline.tokens), parameters)
    assert {edit.kind for edit in plan.edits} <= {"clear"}
    return sorted(plan.cells)
