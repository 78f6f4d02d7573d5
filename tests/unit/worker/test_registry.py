from __future__ import annotations

from contextlib import closing

import pytest
from foldline_worker.summarizers.extractive import Extractive
from foldline_worker.summarizers.llm import LLM
from foldline_worker.summarizers.registry import SUMMARIZERS, check_summarizer, create_summarizer, model_of

from foldline.settings import InvalidSettings, load_settings


def problem_of(**given: str) -> str:
    with pytest.raises(InvalidSettings) as caught:
        check_summarizer(load_settings(**given))
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, ["FOLDLINE_SUMMARIZER_BASE_URL", "FOLDLINE_SUMMARIZER_MODEL"]),
        ({"summarizer_model": "m"}, ["FOLDLINE_SUMMARIZER_BASE_URL"]),
        ({"summarizer_base_url": "http://127.0.0.1:1/v1"}, ["FOLDLINE_SUMMARIZER_MODEL"]),
    ],
)
def test_the_openai_summarizer_says_what_it_lacks(given: dict[str, str], missing: list[str]) -> None:
    problem = problem_of(summarizer="openai", **given)
    assert [name for name in problem.split() if name.startswith("FOLDLINE_SUMMARIZER_")] == missing


def test_a_summarizer_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert (
        problem_of(summarizer="oracle")
        == f"FOLDLINE_SUMMARIZER: there is no 'oracle'; choose {' or '.join(SUMMARIZERS)}"
    )


def test_settings_pick_the_summarizer_and_whether_a_model_writes() -> None:
    extractive = load_settings(summarizer_model="m")
    hosted = load_settings(summarizer="openai", summarizer_base_url="http://127.0.0.1:1/v1", summarizer_model="m")
    assert isinstance(create_summarizer(extractive), Extractive)
    with closing(create_summarizer(hosted)) as summarizer:
        assert isinstance(summarizer, LLM)
    assert (model_of(extractive), model_of(hosted)) == (None, "m")
