"""The segments of a path, and the ids of entries."""

from __future__ import annotations

import pytest

from foldline.engine.edits import Edit, LiveEdits
from foldline.log.errors import NotFound
from foldline.log.storage import paths, segments
from foldline.log.storage.segments import Segment
from tests.support.log.sessions import Scene, turns, user

PARTS = [Segment(0, 1, 10), Segment(2, 11, 20)]


def condensed(*spans: tuple[int, int]) -> LiveEdits:
    return LiveEdits(condensed=tuple(Edit("condense", first, last, summary="s") for first, last in spans))


def test_an_entrys_id_names_its_branch_and_seq() -> None:
    assert segments.parse_entry_id(segments.entry_id(3, 17)) == (3, 17)


@pytest.mark.parametrize(
    "name", ["", "e", "e1", "e-1", "e1-", "17", "e1-2-3", "e 1-2", "e1-²", "e9999999999-1", "e0-99999999999999999999"]
)
def test_anything_else_names_no_entry(name: str) -> None:
    with pytest.raises(NotFound):
        segments.parse_entry_id(name)


def test_runs_without_a_summary_are_left_as_they_are() -> None:
    assert list(segments.uncovered(PARTS, ())) == PARTS


def test_runs_under_a_summary_are_left_out_also_across_branches() -> None:
    parts = list(segments.uncovered(PARTS, condensed((3, 5), (9, 12)).condensed))
    assert parts == [Segment(0, 1, 2), Segment(0, 6, 8), Segment(2, 13, 20)]


def test_nothing_is_left_when_one_summary_covers_all() -> None:
    assert list(segments.uncovered(PARTS, condensed((1, 20)).condensed)) == []


def test_runs_are_clipped_to_ranges() -> None:
    assert segments.clipped(PARTS, [(2, 3), (9, 12)]) == [Segment(0, 2, 3), Segment(0, 9, 10), Segment(2, 11, 12)]
    assert segments.clipped(PARTS, [(30, 40)]) == []


def test_the_branch_of_an_entry_is_that_of_its_run() -> None:
    assert [segments.branch_at(PARTS, seq) for seq in (1, 10, 11)] == [0, 0, 2]


def test_a_path_skips_branches_it_took_nothing_from(scene: Scene) -> None:
    said = scene.append(*turns(2, 20)).entry_ids
    scene.move(said[2])
    scene.move(said[1])
    scene.append(user(20))
    with scene.store.read() as tx:
        parts = segments.segments(tx, paths.open_head(tx, scene.tenant, scene.id))
    assert parts == [Segment(0, 1, 2), Segment(2, 3, 3)]
