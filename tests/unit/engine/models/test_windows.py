import sys
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.models import catalogue
from foldline.engine.models.budget import budget_of
from foldline.engine.models.windows import MAKERS, OWN, Known, known_model, known_models, parse_size, window_of


@pytest.mark.parametrize(
    ("value", "tokens"), [(8_192, 8_192), ("128k", 128_000), (" 1M ", 1_000_000), ("200000", 200_000)]
)
def test_a_size_reads_as_people_write_it(value: int | str, tokens: int) -> None:
    assert parse_size(value) == tokens


@pytest.mark.parametrize("value", [0, -1, True, "", "k", "12.5k", "-3", "1" * 30, 1.5])
def test_a_size_that_is_none_is_refused(value: int | str) -> None:
    with pytest.raises(InvalidPolicy, match="context_window"):
        parse_size(value)


def test_the_longest_prefix_names_the_window() -> None:
    assert window_of("openai/gpt-4").tokens == 8_192
    assert window_of("openai/gpt-4o-2024-11-20").tokens == 128_000
    assert window_of("openai/gpt-4.1-mini").tokens == 1_047_576


@pytest.mark.parametrize(
    "model",
    [
        *("openai/o10", "openai/gpt-4omega", "gpt-4omega", "nobody/gpt-4o", "openai/", "ollama/llama3", ""),
        *("foo-claude-v2", "claude-opus-4-10", "gpt-4o-audio-preview", "openrouter/deepseek/deepseek-r1:free"),
    ],
)
def test_an_unknown_model_is_never_given_a_default(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        window_of(model)
    assert caught.value.model == model


def test_a_name_without_a_provider_is_asked_for_as_one() -> None:
    rows = {("llama-3.3", ""): 64_000}

    assert window_of("llama-3.3", None, lambda name, provider: rows.get((name, provider))).tokens == 64_000
    with pytest.raises(UnknownModel, match=r"`context_window`, or name it as provider/name, such as openai/gpt-4o"):
        window_of("llama-4", None, lambda name, provider: rows.get((name, provider)))


def test_an_unknown_model_is_answered_with_the_nearest_names() -> None:
    with pytest.raises(UnknownModel, match=r"similar name: openai/gpt-4o") as caught:
        window_of("openai/gtp-4o")
    assert caught.value.nearest[0] == "openai/gpt-4o"


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("gpt-4o", 128_000),
        ("openai/GPT-4o-2024-11-20", 128_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("anthropic/claude-opus-4-8", 1_000_000),
        ("openrouter/openai/gpt-5.3-codex", 400_000),
        ("azure/gpt-4o", 128_000),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("bedrock/eu.mistral.mistral-small-latest-v1:0", 262_144),
        ("vertex_ai/claude-sonnet-4-5@20250929", 200_000),
        ("gemini/gemini-2.5-pro", 1_048_576),
        ("models/gemini-2.5-pro", 1_048_576),
        ("gemini-2.5-pro-preview-05-06", 1_048_576),
        ("azure/eu/gpt-4o", 128_000),
        ("azure/global-standard/gpt-4o-2024-08-06", 128_000),
        ("openrouter/anthropic/claude-sonnet-4.5:online", 200_000),
        ("claude-2.1", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("vertex_ai/claude-sonnet-4@20250514", 200_000),
        ("vertex_ai/claude-opus-4-6@default", 1_000_000),
        ("bedrock/anthropic.claude-v2:1", 200_000),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", 200_000),
        ("azure/gpt-5-chat", 128_000),
        ("gemini-2.0-flash-thinking-exp-1219", 32_767),
        ("gpt-3.5-turbo-0301", 4_096),
        ("mistral-small-2402", 32_768),
        ("bedrock/anthropic.claude-opus-4-8-v1:0", 1_000_000),
        ("xai/grok-3-mini", 131_072),
        ("kimi-k2.5", 262_144),
        ("openai/gpt-5.3", 128_000),
        ("openai/gpt-5.4", 1_050_000),
    ],
)
def test_a_model_is_known_by_the_names_that_its_users_write(written: str, tokens: int) -> None:
    assert window_of(written).tokens == tokens


@given(st.sampled_from(known_models()), st.from_regex(r"-?[a-z]{3,8}\d?", fullmatch=True))
def test_a_name_with_something_before_or_after_it_is_that_of_another_model(known: Known, more: str) -> None:
    """It is unknown, unless it is a longer name that is known itself: never taken for the shorter one."""
    for name in (f"{known.name}{more}", f"{more}{known.name}"):
        found = known_model(f"{known.provider}/{name}")
        is_mode = more in {"-fast", "-thinking", "-preview", "-latest", "-exp", "-default"}
        assert found is None or found != known or is_mode, name


def test_every_model_is_known_by_its_own_name_and_those_of_its_maker_by_that_alone() -> None:
    for known in known_models():
        assert known_model(f"{known.provider}/{known.name}") == known
        if known.provider in MAKERS:
            assert known_model(known.name) is not None


def test_every_row_of_the_catalogue_has_a_window_and_no_row_of_ours_contradicts_it_without_a_source() -> None:
    """Prints where the sources differ; `pytest -rP` shows it."""
    listed = {(line.provider, line.name): line for line in catalogue_lines()}
    assert all(line.tokens for line in listed.values())
    ours = [(own, listed.get((own.provider, own.name), Line(own.provider, own.name, None, None))) for own in OWN]
    theirs = [line for line in listed.values() if line.first and line.second]
    sys.stdout.writelines(
        f"{own.provider}/{own.name}: ours {own.tokens} ({own.source}), the catalogue {line.tokens}\n"
        for own, line in ours
    )
    sys.stdout.writelines(
        f"{line.provider}/{line.name}: {catalogue.SOURCE} {line.first}, {catalogue.SECOND_SOURCE} {line.second}\n"
        for line in theirs
    )
    for own, line in ours:
        assert own.source, own
        assert own.tokens != line.tokens, f"drop what the catalogue says too: {own}"


def test_no_request_has_more_tokens_than_either_source_allows() -> None:
    ours = {(own.provider, own.name) for own in OWN}
    differing = [line for line in catalogue_lines() if line.second and (line.provider, line.name) not in ours]
    assert differing
    for line in differing:
        model = f"{line.provider}/{line.name}"
        least = min(filter(None, (line.first, line.second)))
        for output in (None, 1_000):
            assert budget_of(window_of(model), output).limit <= least, model
    assert budget_of(window_of("openai/gpt-5"), 1_000).limit == 272_000


def test_a_given_window_wins_and_keeps_what_is_known_of_the_tokenizer() -> None:
    assert window_of("openai/gpt-4o", "64k").tokens == 64_000
    assert window_of("openai/gpt-4o", "64k").is_exact
    assert not window_of("anthropic/claude-sonnet-4-5", 64_000).is_exact
    assert window_of("home/llama", 4_096).tokens == 4_096


class Line(NamedTuple):
    """A model of the catalogue, with the figures of its two sources."""

    provider: str
    name: str
    first: int | None
    second: int | None

    @property
    def tokens(self) -> int | None:
        return self.first or self.second


def catalogue_lines() -> list[Line]:
    lines = []
    for row in filter(None, catalogue.ROWS.split("\n")):
        provider, name, figures, *_ = row.split(" ")
        first, _, second = figures.partition("/")
        lines.append(Line(provider, name, None if first == "-" else int(first), int(second) if second else None))
    return lines
