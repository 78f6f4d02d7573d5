from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.messages import ToolCall, user
from foldline.engine.outline import outline_of
from foldline.engine.planning.chunks import SMALLEST_LIMIT, UNBOUNDED, chunk_limit, chunk_tokens, chunked
from foldline.engine.policies.policy import Stage, Value
from foldline.engine.tokens.measures import measure_of
from tests.support.conversations import Conversation, answer, assistant

WINDOW = 128_000
BATCH = [assistant("Listing.", ToolCall("a", "ls", "{}")), answer("a", "fold the line")]
TALK = Conversation.of([user("go"), *BATCH, *BATCH, user("on")])
# As if the first result were very long.
SIZES = [5, 20, 33_000, 20, 9, 5]
FACTS = [entry._replace(tokens=tokens) for entry, tokens in zip(TALK.facts, SIZES, strict=True)]
UNEDITED = LiveEdits()


def limit(window: int = WINDOW, due: int = 4, live: LiveEdits = UNEDITED, **parameters: Value) -> int:
    return chunk_tokens(outline_of(FACTS, live), Stage("summarize", parameters), window, due)


@given(st.lists(st.integers(0, 30_000), max_size=40), st.integers(1_000, 1_000_000))
def test_chunks_hold_every_message_in_order_within_their_limit(counts: list[int], window: int) -> None:
    most = chunk_limit(counts, window)
    chunks = chunked(counts, most)
    assert most >= SMALLEST_LIMIT
    assert [position for chunk in chunks for position in chunk] == list(range(len(counts)))
    assert all(chunk for chunk in chunks)
    assert all(len(chunk) == 1 or sum(counts[position] for position in chunk) <= most for chunk in chunks)


def test_a_stage_that_says_nothing_of_chunks_bounds_none() -> None:
    assert limit() == UNBOUNDED
    assert limit(keep_messages=4) == UNBOUNDED


def test_a_chunk_has_the_tokens_or_the_share_of_the_window_that_is_given() -> None:
    assert limit(chunk_tokens=12_000) == 12_000
    assert limit(chunk_share=0.4) == 51_200


def test_the_smaller_of_tokens_and_share_is_a_chunks_limit() -> None:
    assert limit(chunk_tokens=12_000, chunk_share=0.4) == 12_000
    assert limit(20_000, chunk_tokens=12_000, chunk_share=0.4) == 8_000


def test_an_adaptive_limit_follows_the_messages_that_are_due() -> None:
    assert limit(due=1, adapts_chunks=True) == 47_104
    assert limit(due=2, adapts_chunks=True) == chunk_limit(SIZES[:3], WINDOW) < 47_104
    assert limit(due=3, adapts_chunks=True) == chunk_limit(SIZES[:5], WINDOW)


def test_an_adaptive_limit_is_by_messages_and_not_by_batches() -> None:
    by_unit = [SIZES[0], sum(SIZES[1:3])]
    assert limit(due=2, adapts_chunks=True) != chunk_limit(by_unit, WINDOW)


def test_an_adaptive_limit_wins_over_a_fixed_one() -> None:
    assert limit(adapts_chunks=True, chunk_tokens=500) == limit(adapts_chunks=True)


def test_a_live_summary_is_no_message_of_a_chunk() -> None:
    live = LiveEdits().adding([Edit("condense", 1, 3, summary="s1", tokens=40, original_tokens=33_000)])
    assert limit(due=2, live=live, adapts_chunks=True) == 40 + chunk_limit(SIZES[3:5], WINDOW)
    assert limit(due=1, live=live, adapts_chunks=True) == 40 + chunk_limit([], WINDOW)
    assert limit(due=2, live=live) == UNBOUNDED


def test_a_live_summary_longer_than_a_chunk_leaves_it_whole() -> None:
    live = LiveEdits().adding([Edit("condense", 1, 3, summary="s1", tokens=20_000, original_tokens=33_000)])
    assert limit(due=2, live=live, chunk_tokens=12_000) == 32_000


def test_a_chunk_is_in_the_tokens_of_the_outline_and_answered_in_exact_ones() -> None:
    seen = outline_of(FACTS, UNEDITED).measured(measure_of("neurolink", "anthropic"))
    exact = seen.exact
    assert exact is not None
    reported = chunk_tokens(seen, Stage("summarize", {"chunk_tokens": 1_000}), WINDOW, 4)
    assert reported == 1_000 * exact.sums.originals[4] // seen.sums.originals[4] != 1_000
