from pathlib import Path
from typing import get_args

from foldline.engine.edits import Kind
from foldline.engine.models.budget import budget_of
from foldline.engine.models.windows import window_of
from foldline.engine.planning.stages import STAGES
from foldline.engine.policies.policy import STAGE_PARAMETERS
from tests.unit.engine.planning.test_pipeline import LAYOUT

PAGE = (Path(__file__).parents[2] / "docs" / "how-it-works.md").read_text("utf-8")


def test_the_layout_on_the_page_is_the_one_that_is_tested() -> None:
    assert f"```\n{LAYOUT}\n```" in PAGE


def test_the_page_names_every_stage_and_every_edit() -> None:
    assert {name for name in STAGES if f"| `{name}` |" not in PAGE} == set()
    assert {kind for kind in get_args(Kind) if f"`{kind}`" not in PAGE} == set()


def test_the_page_names_every_parameter_of_a_stage() -> None:
    own = {f"{stage}.{name}" for stage, parameters in STAGE_PARAMETERS.items() for name in parameters}
    assert {name for name in own if f"| `{name}` |" not in PAGE} == set()


def test_the_budget_on_the_page_is_computed_right() -> None:
    budget = budget_of(window_of("openai/gpt-4o", 16_000))
    assert f"{budget.window:,} (window) - {budget.reserve:,} (output reserve, 35 %) - {budget.margin:,} (margin" in PAGE
    assert f"= {budget.limit:,}\n" in PAGE
