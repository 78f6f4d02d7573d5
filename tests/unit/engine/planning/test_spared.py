"""Which results a compaction to a caller's target leaves as they are, because the target has room for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.edits import Edit
from foldline.engine.outline import Outline
from foldline.engine.planning.pipeline import Planned
from foldline.engine.planning.spared import sparing
from foldline.engine.wording import summary_frame_tokens
from tests.support.conversations import Conversation, user
from tests.unit.engine.planning.test_pipeline import WIDE, seen, work

HUGE, LARGE, SMALL = "word " * 5_000, "word " * 500, "word " * 50


def talk_of(*sizes: str) -> Conversation:
    """A user message (seq 1), then a batch with a result of each size (seqs 3, 5, 7 …)."""
    return Conversation.of([user("go"), *(message for n, text in enumerate(sizes) for message in work(f"c{n}", text))])


def aimed(talk: Conversation, target: int) -> Planned:
    """The talk compacted to a target by the stages that edit results and hide messages."""
    goals = WIDE.aiming_at(target)
    return seen(talk, "prune", "truncate", exact=goals, estimated=goals, has_target=True)


def spared(talk: Conversation, edits: list[Edit], room: int) -> list[int]:
    """The seqs that these edits still change, where `room` tokens are free after all of them."""
    after = talk.outline.edited(edits)
    goals = replace(WIDE, target=after.tokens + room, summary_max=100)
    return [edit.first for edit in sparing(talk.outline, edits, after, goals)]


def clears(*seqs: int) -> list[Edit]:
    return [Edit("clear", seq, seq) for seq in seqs]


def test_what_the_last_edit_saves_too_much_is_given_back_newest_first() -> None:
    talk = talk_of(LARGE, LARGE, LARGE, HUGE)
    saved = talk.outline.tokens - talk.outline.edited(clears(3)).tokens
    assert spared(talk, clears(3, 5, 7, 9), room=2 * saved) == [3, 9]
    assert spared(talk, clears(3, 5, 7, 9), room=saved - 1) == [3, 5, 7, 9]


def test_a_small_older_result_is_spared_where_a_newer_one_does_not_fit() -> None:
    talk = talk_of(SMALL, LARGE)
    saved = talk.outline.tokens - talk.outline.edited(clears(3)).tokens
    assert spared(talk, clears(3, 5), room=saved) == [5]


def test_a_result_that_was_edited_before_goes_back_to_that_edit_at_most() -> None:
    excerpt = Edit("excerpt", 3, 3, 0)
    before = talk_of(LARGE).outline.edited([excerpt])
    after = before.edited(clears(3))
    goals = replace(WIDE, target=before.tokens)
    assert sparing(before, clears(3), after, goals) == ()
    assert sparing(before, clears(3), after, replace(goals, target=before.tokens - 1)) == tuple(clears(3))


def test_pointers_to_later_reads_and_hidden_messages_stay_edited() -> None:
    talk = talk_of(LARGE, LARGE)
    edits = [Edit("supersede", 3, 3), Edit("hide", 2, 3)]
    assert spared(talk, edits, room=10_000) == [3, 2]


def test_room_for_the_summary_of_what_is_hidden_stays_free() -> None:
    talk = talk_of(LARGE, LARGE, LARGE)
    edits = [*clears(7), Edit("hide", 2, 3)]
    saved = talk.outline.tokens - talk.outline.edited(clears(7)).tokens
    reserve = 100 + summary_frame_tokens()
    assert spared(talk, edits, room=saved + reserve) == [2]
    assert spared(talk, edits, room=saved + reserve - 1) == [7, 2]


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_no_edit_of_a_result_is_left_that_the_target_has_room_for(share: float) -> None:
    talk = talk_of(LARGE, SMALL, HUGE, LARGE, SMALL, LARGE, LARGE)
    target = int(talk.outline.tokens * share)
    done = aimed(talk, target)
    assert done.outline.tokens <= target
    for edit in done.edits:
        if edit.kind in {"clear", "excerpt"} and not done.outline.pending_tokens:
            assert _without(talk.outline, done, edit) > target


def test_a_compaction_without_a_target_spares_nothing() -> None:
    goals = replace(WIDE, trigger=0, target=2_000, keep_recent=0, minimum_saving=0)
    done = seen(talk_of(LARGE, LARGE, HUGE), "prune", exact=goals, estimated=goals)
    assert [edit.first for edit in done.edits] == [3, 5, 7]


def _without(outline: Outline, done: Planned, edit: Edit) -> int:
    """The tokens of the view without this edit."""
    return outline.edited(other for other in done.edits if other != edit).tokens
