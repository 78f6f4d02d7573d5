"""Summarizers as data: which names there are, what a row must have, and who takes over from whom."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.contract import SummarizerUnavailable
from foldline_worker.summarizers.registry import check_summarizer, create_summarizer, model_of

from foldline.engine.messages import user
from foldline.engine.models.prices import Prices
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.log.storage.store import RidingModel
from foldline.settings import InvalidSettings, Settings, load_settings
from foldline.summarizer_file import read_summarizers, riding_models, summarizer_rows, writers_of
from tests.support.processes.scripted_llm import Reply, ScriptedLLM

REQUEST = SummaryInput((), (user("Rename the parser to reader, and keep the old name as an alias."),), 300)
DOWN = Reply(text="no", status=403)


def problem_of(**given: str) -> str:
    with pytest.raises(InvalidSettings) as caught:
        check_summarizer(load_settings(**given))
    (problem,) = caught.value.problems
    return problem


def named(summarizer: str, **base_urls: str) -> Settings:
    rows = {name: {"model": f"model-{name}", "base_url": url, "key": f"key-{name}"} for name, url in base_urls.items()}
    return load_settings(summarizer=summarizer, summarizers=json.dumps(rows))


def written(settings: Settings) -> SummaryDraft:
    with closing(create_summarizer(settings)) as summarizer:
        return summarizer.summarize(REQUEST, Cancellation())


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
    rows = '{"fast": {"model": "m"}}'
    expected = "FOLDLINE_SUMMARIZER: there is no 'oracle'; choose extractive or openai or fast"
    assert problem_of(summarizer="oracle", summarizers=rows) == expected
    assert problem_of(summarizer="fast,oracle", summarizers=rows) == expected


def test_nobody_is_named_twice() -> None:
    assert "given twice" in problem_of(summarizer="fast,fast", summarizers='{"fast": {"model": "m"}}')


def test_nothing_stands_after_the_one_that_never_fails() -> None:
    rows = '{"fast": {"model": "m"}}'
    assert "extractive never fails" in problem_of(summarizer="extractive,fast", summarizers=rows)
    check_summarizer(load_settings(summarizer="fast,extractive", summarizers=rows))


def test_settings_pick_the_summarizer_and_whether_a_model_writes() -> None:
    hosted = load_settings(summarizer="openai", summarizer_base_url="http://127.0.0.1:1/v1", summarizer_model="m")
    assert model_of(hosted) == "m"
    assert model_of(load_settings(summarizer_model="m")) is None
    draft = written(load_settings())
    assert (draft.summarizer, draft.degraded, draft.model) == ("extractive", False, None)


def test_a_row_is_called_at_its_address_with_its_key_and_model() -> None:
    with ScriptedLLM() as llm:
        draft = written(named("fast", fast=llm.base_url))
    assert (draft.summarizer, draft.degraded) == ("fast", False)
    (request,) = llm.requests
    assert request.authorization == "Bearer key-fast"
    assert request.body["model"] == "model-fast"


def test_each_takes_over_from_those_before_it() -> None:
    with ScriptedLLM(default=DOWN) as down, ScriptedLLM() as spare:
        draft = written(named("fast,spare,extractive", fast=down.base_url, spare=spare.base_url))
    assert (draft.summarizer, draft.degraded) == ("spare", False)
    assert (len(down.requests), len(spare.requests)) == (1, 1)


def test_the_ledger_alone_takes_over_at_last_and_is_degraded() -> None:
    with ScriptedLLM(default=DOWN) as down:
        draft = written(named("fast,extractive", fast=down.base_url))
    assert (draft.summarizer, draft.degraded) == ("extractive", True)
    assert "alias" in draft.text


def test_without_one_that_answers_the_first_failure_is_reported() -> None:
    with ScriptedLLM(default=DOWN) as down, pytest.raises(SummarizerUnavailable, match="HTTP 403"):
        written(named("fast,spare", fast=down.base_url, spare="http://127.0.0.1:1/v1"))


def test_who_is_not_named_is_sent_nothing() -> None:
    with ScriptedLLM(default=DOWN) as down, ScriptedLLM() as other:
        written(named("fast,extractive", fast=down.base_url, other=other.base_url))
    assert not other.requests


def test_rows_may_stand_in_a_file_and_keys_in_others(tmp_path: Path) -> None:
    key, rows = tmp_path / "key", tmp_path / "summarizers.toml"
    key.write_text("sk-in-a-file\n")
    with ScriptedLLM() as llm:
        rows.write_text(f'[fast]\nmodel = "m"\nbase_url = "{llm.base_url}"\nkey_file = "{key}"\n')
        assert written(load_settings(summarizer="fast", summarizers=str(rows))).summarizer == "fast"
    assert llm.requests[0].authorization == "Bearer sk-in-a-file"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("{", "no JSON"),
        ('{"fast": {}}', "fast.model: Field required"),
        ('{"fast": {"model": "m", "windw": 9}}', "fast.windw: Extra inputs"),
        ('{"fast": {"model": "m", "base_url": "ftp://x"}}', "fast.base_url"),
        ('{"fast": {"model": "m", "wire": "soap"}}', "fast.wire: Input should be 'openai-chat'"),
        ('{"fast": {"model": "m", "key": "sk-secret", "key_file": "k"}}', "give `key` or `key_file`"),
        ('{"fast": {"model": "m", "key": ["sk-secret"]}}', "fast.key"),
        ('{"fast": {"model": "m", "key_file": "/nowhere/sk"}}', "/nowhere/sk cannot be read"),
        ('{"openai": {"model": "m"}}', "no name for a summarizer"),
        ('{"a b": {"model": "m"}}', "no name for a summarizer"),
        ("/nowhere/summarizers.toml", "cannot be read: No such file"),
        ('[fast]\nmodel = "m"\nkey = "sk-secret"', "give the path of a TOML file, or JSON"),
        ('[{"key": "sk-secret"}]', "give the path of a TOML file, or JSON"),
        ('{"fast": {"model": "m", "key": "sk-secret\u00e9"}}', "printable ASCII"),
        ('{"fast": {"model": "m", "base_url": "http://[::1"}}', "give an http or https address"),
        ('{"a": ' * 4000 + "1" + "}" * 4000, "FOLDLINE_SUMMARIZERS"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place_and_without_its_key(rows: str, words: str) -> None:
    problem = problem_of(summarizer="fast", summarizers=rows)
    assert problem.startswith("FOLDLINE_SUMMARIZERS")
    assert words in problem
    assert "sk-secret" not in problem


def test_a_file_that_is_no_toml_is_refused_with_the_line(tmp_path: Path) -> None:
    rows = tmp_path / "summarizers.toml"
    rows.write_text("[fast]\nmodel = m\n")
    assert "line 2" in problem_of(summarizer="fast", summarizers=str(rows))


def test_a_policy_chooses_who_writes() -> None:
    with ScriptedLLM() as usual, ScriptedLLM(default=DOWN) as down, ScriptedLLM() as chosen:
        settings = named("usual", usual=usual.base_url, down=down.base_url, chosen=chosen.base_url)
        with closing(create_summarizer(settings)) as summarizer:
            request = replace(REQUEST, writers=("down", "chosen"))
            assert summarizer.summarize(request, Cancellation()).summarizer == "chosen"
            alone = summarizer.summarize(replace(REQUEST, writers=("extractive",)), Cancellation())
            assert (alone.summarizer, alone.degraded) == ("extractive", False)
            with pytest.raises(SummarizerUnavailable, match="has no summarizer gone"):
                summarizer.summarize(replace(REQUEST, writers=("gone",)), Cancellation())
    assert not usual.requests


def test_rows_ride_only_where_they_say_so() -> None:
    own = {"model": "claude-opus-5", "wire": "anthropic", "rides_cache": "anthropic/claude-opus-5"}
    rows = json.dumps({"own": own, "fast": {"model": "m"}})
    settings = load_settings(summarizer="own, extractive", summarizers=rows)
    assert riding_models(settings) == {"own": RidingModel("anthropic/claude-opus-5", "anthropic")}
    assert writers_of(settings) == ("own", "extractive")
    assert riding_models(load_settings(summarizer_base_url="http://a/v1", summarizer_model="m")) == {}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"model": "gpt-4o", "rides_cache": "openai/gpt-5"}, "as sessions name it"),
        ({"model": "own-model", "rides_cache": "vllm/own-model"}, "cached_input_price"),
        (
            {"model": "gpt-4o", "rides_cache": "openai/gpt-4o", "input_price": 1, "output_price": 2},
            "cached_input_price",
        ),
    ],
)
def test_a_row_that_cannot_ride_is_refused(row: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidSettings, match=problem):
        read_summarizers(json.dumps({"own": row}))


def test_a_row_may_have_prices_of_its_own() -> None:
    rows = {"fast": {"model": "m", "input_price": 3, "output_price": 15}, "known": {"model": "gpt-4o"}}
    read = read_summarizers(json.dumps(rows))
    assert read["fast"].prices == Prices(input=3, output=15)
    assert read["known"].prices
    assert read_summarizers('{"other": {"model": "m"}}')["other"].prices is None
    with pytest.raises(InvalidSettings, match="input_price"):
        read_summarizers('{"fast": {"model": "m", "input_price": 3}}')


@pytest.mark.parametrize(("slots", "given", "calls"), [(64, None, 64), (1, None, 4), (64, 2, 2)])
def test_a_worker_calls_the_model_as_often_at_once_as_it_writes_summaries(
    slots: int, given: int | None, calls: int
) -> None:
    named = '{"fast": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}, "slow": {"model": "m", "concurrency": 1}}'
    settings = Settings(
        worker_concurrency=slots,
        summarizer_concurrency=given,
        summarizers=named,
        summarizer_base_url="http://127.0.0.1:9/v1",
        summarizer_model="m",
    )
    found = {name: row.concurrency for name, row in summarizer_rows(settings).items()}
    assert found == {"openai": calls, "fast": calls, "slow": 1}
