import pytest

from foldline.engine.edits import LiveEdits
from foldline.engine.models.budget import Goals
from foldline.engine.outline import outline_of
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.summarize import summarize
from foldline.engine.policies.policy import Stage

GOALS = Goals(limit=900, trigger=800, target=500, keep_recent=100, summary_max=64, minimum_saving=0)


@pytest.mark.parametrize(
    ("tokens", "is_asked", "is_wanted"), [(501, False, True), (500, False, False), (0, True, True)]
)
def test_a_summary_is_wanted_above_the_target_or_when_asked_for(
    tokens: int, *, is_asked: bool, is_wanted: bool
) -> None:
    parameters = Parameters(GOALS, is_asked=is_asked, has_target=False, own=Stage("summarize"))
    plan = summarize(outline_of([], LiveEdits()), Plan(tokens), parameters)
    assert plan.is_summary_wanted is is_wanted
    assert plan.edits == ()
