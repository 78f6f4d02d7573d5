"""What a compaction to a caller's target leaves as it is, because the target has room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline
from foldline.engine.planning.given_back import giving_back
from foldline.engine.planning.pipeline import Planned, plan_for
from foldline.engine.policies.policy import stage_of
from foldline.engine.tokens.measures import Measure, exact_measure, measure_of
from foldline.engine.wording import summary_frame_tokens
from tests.support.conversations import Conversation, answer, assistant, user
from tests.unit.engine.planning.test_pipeline import BLANK, WIDE, seen, work

HUGE, LARGE, SMALL = "word " * 5_000, "word " * 500, "word " * 50
EXACT = exact_measure()


def talk_of(*sizes: str) -> Conversation:
    """A user message (seq 1), then a batch with a result of each size (seqs 3, 5, 7 …)."""
    return Conversation.of([user("go"), *(message for n, text in enumerate(sizes) for message in work(f"c{n}", text))])


def given(
    outline: Outline, edits: Sequence[Edit], room: int, measure: Measure = EXACT, room_by_policy: int = 0
) -> list[int]:
    """The first seqs of the edits that are left, where after all of them `room` tokens are free, by exact count.

    By a policy's own count, `room_by_policy` tokens are free.
    """
    after = outline.edited(edits)
    goals = replace(WIDE, target=after.tokens + room, summary_max=100)
    by_policy = goals if measure is EXACT else replace(WIDE, target=after.measured(measure).tokens + room_by_policy)
    return [edit.first for edit in giving_back(outline, edits, after, goals, Gauge(measure, by_policy))]


def clears(*seqs: int) -> list[Edit]:
    return [Edit("clear", seq, seq) for seq in seqs]


def saving(outline: Outline, edits: Sequence[Edit]) -> int:
    return outline.tokens - outline.edited(edits).tokens


def aimed(talk: Conversation, target: int, *stages: str) -> Planned:
    """The talk compacted to a target by these stages."""
    goals = WIDE.aiming_at(target)
    own = [stage_of(stage, "stages") for stage in stages]
    return plan_for(talk.outline, own, goals, Gauge(EXACT, goals), is_asked=True, has_target=True)


def test_what_was_saved_beyond_need_is_given_back_newest_first() -> None:
    outline = talk_of(LARGE, LARGE, LARGE, HUGE).outline
    one = saving(outline, clears(3))
    assert given(outline, clears(3, 5, 7, 9), room=2 * one) == [3, 9]
    assert given(outline, clears(3, 5, 7, 9), room=one - 1) == [3, 5, 7, 9]


def test_the_newest_of_one_batch_comes_first() -> None:
    calls = [ToolCall(name, "ls", "{}") for name in "ab"]
    outline = Conversation.of([user("go"), assistant("", *calls), answer("a", LARGE), answer("b", LARGE)]).outline
    assert given(outline, clears(3, 4), room=saving(outline, clears(3))) == [3]


def test_a_small_older_result_is_given_back_where_a_newer_one_does_not_fit() -> None:
    outline = talk_of(SMALL, LARGE).outline
    assert given(outline, clears(3, 5), room=saving(outline, clears(3))) == [5]


def test_excerpts_are_given_back_too() -> None:
    outline = talk_of(LARGE).outline
    assert given(outline, [Edit("excerpt", 3, 3, 0)], room=10_000) == []


def test_a_result_that_was_edited_before_goes_back_to_that_edit_at_most() -> None:
    before = talk_of(LARGE).outline.edited([Edit("excerpt", 3, 3, 0)])
    one = saving(before, clears(3))
    assert given(before, clears(3), room=one) == []
    assert given(before, clears(3), room=one - 1) == [3]


def test_pointers_to_later_reads_and_hidden_messages_stay_edited() -> None:
    outline = talk_of(LARGE, LARGE).outline
    assert given(outline, [Edit("supersede", 5, 5)], room=10_000) == [5]
    assert given(outline, [*clears(3), Edit("hide", 2, 3)], room=10_000) == [3, 2]


def test_room_for_the_summary_of_what_is_hidden_stays_free() -> None:
    outline = talk_of(LARGE, LARGE, LARGE).outline
    hide = Edit("hide", 2, 3)
    one, reserve = saving(outline, clears(7)), 100 + summary_frame_tokens()
    assert given(outline, [*clears(7), hide], room=one + reserve) == [2]
    assert given(outline, [*clears(7), hide], room=one + reserve - 1) == [7, 2]


def test_so_does_room_for_what_was_hidden_before_less_its_interim_summary() -> None:
    outline = talk_of(LARGE, LARGE, LARGE).outline.edited([Edit("hide", 2, 3)])
    one, reserve = saving(outline, clears(7)), 100 + summary_frame_tokens()
    assert given(outline, clears(7), room=one + reserve) == []
    assert given(outline, clears(7), room=one + reserve - 1) == [7]
    noted = outline.edited([Edit("interim", 2, 3, 2, "s", 40, 500)])
    assert given(noted, clears(7), room=one + reserve - 40) == []
    assert given(noted, clears(7), room=one + reserve - 41) == [7]


def test_what_is_dear_by_the_policys_own_count_is_not_given_back() -> None:
    outline = talk_of(BLANK, LARGE).outline
    measure = measure_of("chars4")
    by_policy = outline.measured(measure)
    dear = by_policy.tokens - by_policy.edited(clears(5)).tokens
    assert given(outline, clears(5), 10_000, measure, dear) == []
    assert given(outline, clears(5), 10_000, measure, dear - 1) == [5]


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_no_edit_is_left_that_the_target_has_room_for(share: float) -> None:
    talk = talk_of(LARGE, SMALL, HUGE, LARGE, SMALL, LARGE, LARGE)
    target = int(talk.outline.tokens * share)
    done = aimed(talk, target, "prune", "truncate")
    assert done.outline.tokens <= target
    assert not done.outline.pending_tokens
    for edit in done.edits:
        assert talk.outline.edited(other for other in done.edits if other != edit).tokens > target


def test_only_a_target_of_the_request_gives_back() -> None:
    goals = replace(WIDE, trigger=0, target=2_000, keep_recent=0, minimum_saving=0)
    talk = talk_of(LARGE, LARGE, HUGE)
    assert [edit.first for edit in seen(talk, "prune", exact=goals, estimated=goals).edits] == [3, 5, 7]
    own = [stage_of("prune", "stages")]
    done = plan_for(talk.outline, own, goals, Gauge(EXACT, goals), is_asked=True)
    assert [edit.first for edit in done.edits] == [3, 5, 7]


def test_nothing_that_was_given_back_is_summarized_at_once() -> None:
    messages: list[Message] = [user("go"), *(m for n in range(8) for m in work(f"c{n}", "word " * 300))]
    talk = Conversation.of([*messages, *work("big", "word " * 6_000), assistant("Done.")])
    done = aimed(talk, 3_000, "prune", "summarize", "truncate")
    assert 2_500 < done.outline.tokens <= 3_000
    assert not done.is_summary_wanted
