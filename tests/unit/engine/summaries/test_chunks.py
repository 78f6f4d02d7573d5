"""Long inputs in chunks: nothing is lost, doubled or moved, no chunk exceeds a call, and merging comes to an end."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.messages import Message, Text, ToolCall, ToolResult
from foldline.engine.summaries.chunks import call_size, first_chunks, fits, halves, is_one_text, merges
from foldline.engine.summaries.prompt import SMALLEST_INPUT_TOKENS, SummaryInput, prompt
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import ESTIMATES, EXACT

SIZES = st.lists(st.integers(1, 300), min_size=1, max_size=30)
INPUT = st.integers(1_400, 4_000)


def request_of(sizes: list[int], previous: tuple[str, ...] = ()) -> SummaryInput:
    texts = (f"{number}" + " fold" * size for number, size in enumerate(sizes))
    said = tuple(Message("assistant" if number % 3 else "user", (Text(text),)) for number, text in enumerate(texts))
    return SummaryInput(previous, said, 500)


def lines_of(tokens: int) -> str:
    return "".join(f"- line {number}\n" for number in range(tokens // 5))


@given(sizes=SIZES, input_tokens=INPUT, earlier=st.sampled_from([(), (100,), (100, 9_000)]), is_turn=st.booleans())
def test_chunks_have_everything_once_and_in_order(
    sizes: list[int], input_tokens: int, earlier: tuple[int, ...], *, is_turn: bool
) -> None:
    request = request_of(sizes, tuple(map(lines_of, earlier)))
    if is_turn:
        request = replace(request, messages=(), turn_prefix=request.messages)
    found = first_chunks(request, input_tokens)

    assert tuple(message for chunk in found for message in chunk.said) == request.said
    assert "".join(text for chunk in found for text in chunk.previous) == "".join(request.previous)
    assert all(is_one_text(chunk) != bool(chunk.said) for chunk in found)
    assert all(bool(chunk.turn_prefix) == is_turn for chunk in found if chunk.said)
    assert all(fits(chunk, input_tokens) for chunk in found)


@given(sizes=SIZES, input_tokens=INPUT)
def test_what_fits_is_shown_whole(sizes: list[int], input_tokens: int) -> None:
    request = request_of(sizes, ("- an earlier story",))
    asked = prompt(request, input_tokens)
    assert sum(count_text(message["content"]) for message in asked) <= input_tokens
    if fits(request, input_tokens):
        assert "left out" not in asked[1]["content"]


@given(sizes=st.lists(st.integers(5, 3_000), min_size=1, max_size=40), input_tokens=INPUT)
def test_merges_read_all_texts_in_order_within_one_call(sizes: list[int], input_tokens: int) -> None:
    texts = [f"story {number}\n{lines_of(size)}" for number, size in enumerate(sizes)]
    found = merges(request_of([1]), texts, input_tokens)
    assert "".join(text for merge in found for text in merge.previous) == "".join(texts)
    assert all(fits(merge, input_tokens) for merge in found)
    assert not any(merge.said for merge in found)


@given(sizes=SIZES, earlier=st.sampled_from([(), (100,), (100, 200)]))
def test_halves_have_everything_in_order_until_nothing_can_be_divided(
    sizes: list[int], earlier: tuple[int, ...]
) -> None:
    request = request_of(sizes, tuple(map(lines_of, earlier)))
    waiting, done = [request], list[SummaryInput]()
    while waiting:
        chunk = waiting.pop(0)
        two = None if is_one_text(chunk) else halves(chunk)
        waiting[:0] = two or ()
        done += [] if two else [chunk]
    assert tuple(message for chunk in done for message in chunk.said) == request.said
    assert tuple(text for chunk in done for text in chunk.previous) == request.previous
    assert all(len(chunk.said) + len(chunk.previous) == 1 for chunk in done)


def test_a_chunk_ends_before_a_turn_that_is_near() -> None:
    request = request_of([200] * 9)
    ends = [chunk.messages[0].role for chunk in first_chunks(request, 2_100)]
    assert ends == ["user"] * len(ends)
    assert len(ends) > 1


def test_an_earlier_text_is_divided_between_its_lines() -> None:
    two = halves(SummaryInput((lines_of(400),), (), 500))
    assert two is not None
    first, second = two
    assert first.previous[0].endswith("\n")
    assert first.previous[0] + second.previous[0] == lines_of(400)


@given(
    sizes=st.lists(st.sampled_from([5, 40, 400, 1_500]), min_size=1, max_size=8), input_tokens=st.integers(2_000, 5_000)
)
def test_a_prompt_has_every_line_of_the_texts_that_it_merges(sizes: list[int], input_tokens: int) -> None:
    texts = [f"story {number}\n{lines_of(size)}" for number, size in enumerate(sizes)]
    for merge in merges(request_of([1]), texts, input_tokens):
        said = prompt(merge, input_tokens)[1]["content"]
        assert all(line in said for text in merge.previous for line in text.splitlines())


def test_calls_stay_with_their_results() -> None:
    said = [
        message
        for number in range(40)
        for message in (
            Message("assistant", (ToolCall(f"c{number}", "bash", "{}"),)),
            Message("tool", (ToolResult(f"c{number}", (Text("word " * 200),)),)),
        )
    ]
    request = SummaryInput((), tuple(said), 500)
    found = first_chunks(request, 1_800)
    assert len(found) > 5
    assert all(chunk.messages[0].role == "assistant" for chunk in found)
    two = halves(replace(request, messages=tuple(said[:6])))
    assert two is not None
    assert [half.messages[0].role for half in two] == ["assistant", "assistant"]


@given(
    sizes=SIZES,
    word=st.sampled_from([" fold", "折线 ", " свернуть", " {a = 1}"]),
    call_tokens=st.integers(1_500, 12_000),
    earlier=st.sampled_from([(), (300,)]),
)
def test_a_limit_by_another_counter_holds_for_whatever_was_said(
    sizes: list[int], word: str, call_tokens: int, earlier: tuple[int, ...]
) -> None:
    estimate = ESTIMATES["codebuddy"].text
    said = tuple(Message("user", (Text(f"{number}" + word * size),)) for number, size in enumerate(sizes))
    request = SummaryInput(
        tuple(map(lines_of, earlier)), said, 500, style="codebuddy", call_tokens=call_tokens, call_counter="codebuddy"
    )
    most = call_size(request, 100_000)
    if fits(request, most) and most > SMALLEST_INPUT_TOKENS:
        around = estimate(prompt(replace(request, messages=()), 100_000)[1]["content"])
        texts = [message.text for message in said]
        assert around + sum(map(estimate, texts)) <= call_tokens


def test_a_limit_in_exact_tokens_is_kept_to_but_never_too_small_to_say_anything() -> None:
    request = replace(request_of([200] * 9), call_tokens=2_000, call_counter=EXACT)
    assert call_size(request, 100_000) == 2_000
    assert call_size(request, 1_500) == 1_500
    assert call_size(replace(request, call_tokens=10), 1_500) == SMALLEST_INPUT_TOKENS
    assert call_size(replace(request, call_tokens=None), 1_500) == 1_500
