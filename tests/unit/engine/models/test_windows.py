import pytest

from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.models.windows import MODELS, parse_size, window_of


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


@pytest.mark.parametrize("model", ["openai/o10", "openai/gpt-4omega", "gpt-4o", "nobody/gpt-4o", "openai/"])
def test_an_unknown_model_is_never_given_a_default(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        window_of(model)
    assert caught.value.model == model


def test_a_name_without_a_provider_is_asked_for_as_one() -> None:
    rows = {("llama-3.3", ""): 64_000}

    assert window_of("llama-3.3", None, lambda name, provider: rows.get((name, provider))).tokens == 64_000
    with pytest.raises(UnknownModel, match=r"`context_window`, or name it as provider/name, such as openai/gpt-4o"):
        window_of("gpt-4o", None, lambda name, provider: rows.get((name, provider)))


def test_a_given_window_wins_and_keeps_what_is_known_of_the_tokenizer() -> None:
    assert window_of("openai/gpt-4o", "64k").tokens == 64_000
    assert window_of("openai/gpt-4o", "64k").is_exact
    assert not window_of("anthropic/claude-sonnet-4-5", 64_000).is_exact
    assert window_of("home/llama", 4_096).tokens == 4_096


def test_every_window_in_the_table_is_found_by_its_own_name() -> None:
    for provider, models in MODELS.items():
        for name, window in models.items():
            assert window_of(f"{provider}/{name}") == window
