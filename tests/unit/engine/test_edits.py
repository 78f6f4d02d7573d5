import json

from foldline.engine.edits import Edit, LiveEdits, covered, from_json, to_json, within

CLEAR = Edit("clear", 3, 3)
HIDE = Edit("hide", 2, 5)
SMALL = Edit("condense", 2, 5, summary="s1", tokens=40, original_tokens=900)
LARGE = Edit("condense", 1, 9, summary="s2", tokens=60, original_tokens=2_000, replaces=("s1",))


def test_a_later_edit_of_an_entry_takes_the_place_of_an_earlier_one() -> None:
    live = LiveEdits().adding([Edit("excerpt", 3, 3, 1)]).adding([CLEAR])
    assert dict(live.cells) == {3: CLEAR}


def test_a_summary_absorbs_the_edits_and_hides_under_it() -> None:
    live = LiveEdits().adding([CLEAR, HIDE, Edit("clear", 7, 7)]).adding([SMALL])
    assert dict(live.cells) == {7: Edit("clear", 7, 7)}
    assert live.hidden == ()
    assert live.condensed == (SMALL,)


def test_a_hide_that_reaches_beyond_a_summary_stays_for_the_rest() -> None:
    live = LiveEdits().adding([Edit("hide", 2, 8)]).adding([SMALL])
    assert live.hidden == ((2, 8),)


def test_the_outermost_summary_shows() -> None:
    assert LiveEdits().adding([SMALL]).adding([LARGE]).condensed == (LARGE,)


def test_summaries_side_by_side_are_kept_in_order() -> None:
    later = Edit("condense", 7, 9, summary="s3")
    assert LiveEdits().adding([later]).adding([SMALL]).condensed == (SMALL, later)


def test_adding_nothing_changes_nothing() -> None:
    live = LiveEdits().adding([CLEAR, HIDE])
    assert live.adding([]) == live


def test_bars_are_replaced_as_a_whole() -> None:
    live = LiveEdits().barring([(1, 4)]).barring([(5, 9)])
    assert live.barred == ((5, 9),)
    assert live.adding([CLEAR]).barred == ((5, 9),)


def test_a_range_is_covered_or_within_only_as_a_whole() -> None:
    assert covered(2, 5, [SMALL])
    assert not covered(2, 6, [SMALL])
    assert within(2, 2, [(1, 2)])
    assert not within(1, 3, [(1, 2), (3, 4)])


def test_live_edits_read_back_as_they_were_written() -> None:
    live = LiveEdits().adding([LARGE, Edit("excerpt", 12, 12, 2), Edit("hide", 10, 11)]).barring([(3, 4)])
    assert from_json(json.loads(json.dumps(to_json(live)))) == live


def test_edits_first_differ_at_the_first_entry_that_shows_differently() -> None:
    before = LiveEdits().adding([CLEAR, Edit("clear", 8, 8)])
    assert before.first_difference(LiveEdits().adding([CLEAR, Edit("clear", 8, 8)])) is None
    assert before.first_difference(before.adding([Edit("excerpt", 8, 8, 1)])) == 8
    assert before.adding([Edit("clear", 5, 5)]).first_difference(before) == 5
    assert before.first_difference(before.adding([Edit("omit_images", 4, 4, 1)])) == 4
    assert before.first_difference(before.adding([HIDE])) == 2
    assert before.first_difference(before.adding([LARGE])) == 1
