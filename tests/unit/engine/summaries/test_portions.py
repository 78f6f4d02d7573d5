"""Long inputs in portions: nothing is lost, doubled or moved, and together they stay within their room."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.messages import user
from foldline.engine.summaries.portions import portions, text_of_portions
from foldline.engine.summaries.prompt import SMALLEST_INPUT_TOKENS, SMALLEST_PIECE, SummaryInput
from foldline.engine.tokens.counter import count_message, count_text

SIZES = st.lists(st.integers(1, 300), min_size=1, max_size=30)


def request_of(sizes: list[int], max_tokens: int, previous: tuple[str, ...] = ()) -> SummaryInput:
    messages = tuple(user(f"{number}" + " fold" * size) for number, size in enumerate(sizes))
    return SummaryInput(previous, messages, max_tokens)


@given(
    sizes=SIZES,
    max_tokens=st.integers(SMALLEST_PIECE, 3_000),
    input_tokens=st.integers(50, 2_000),
    has_previous=st.booleans(),
    is_turn=st.booleans(),
)
def test_portions_have_everything_once_and_in_order(
    sizes: list[int], max_tokens: int, input_tokens: int, *, has_previous: bool, is_turn: bool
) -> None:
    request = request_of(sizes, max_tokens, (" gist" * 80,) if has_previous else ())
    if is_turn:
        request = replace(request, messages=(), turn_prefix=request.messages)
    found = portions(request, input_tokens)

    assert tuple(message for portion in found for message in portion.said) == request.said
    assert all(bool(portion.turn_prefix) == is_turn for portion in found)
    assert [portion.previous for portion in found] == [request.previous, *[()] * (len(found) - 1)]
    texts = [" fold" * portion.max_tokens for portion in found]
    assert count_text(text_of_portions(texts)) <= max_tokens


def test_what_fits_one_call_is_one_portion() -> None:
    request = request_of([100, 100], 500)
    assert portions(request, sum(map(count_message, request.messages))) == (request,)


def test_a_portion_leaves_room_for_the_prompt() -> None:
    request = request_of([300] * 60, 8_000)
    lengths = [sum(map(count_message, portion.messages)) for portion in portions(request, 6_000)]
    assert len(lengths) == 4
    assert max(lengths) <= 6_000 - SMALLEST_INPUT_TOKENS


def test_a_short_summary_has_fewer_portions_with_more_to_read() -> None:
    request = request_of([50] * 40, 2 * SMALLEST_PIECE)
    assert len(portions(request, 100)) == 2
