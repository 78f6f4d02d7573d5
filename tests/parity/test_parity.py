"""The engine against recorded answers of other systems, and the check itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parity.__main__ import OWN, main, tallies
from tests.parity.operations import OPERATIONS
from tests.parity.vectors import Operation, agrees, expanded, read_vectors

RECORDED = Path(__file__).parents[3] / "shared" / "vectors" / "visible"
LINE = {"system": "x", "op": "double", "id": "x-1", "args": {"n": 2}, "expect": {"n": 4}, "class": "clean", "bug": None}


@pytest.mark.parametrize("folder", [OWN, RECORDED], ids=["own", "recorded"])
def test_every_answer_agrees_or_is_safe(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("there are no recorded answers beside this checkout")
    vectors = [vector for vector in read_vectors(folder) if (vector.system, vector.op) in OPERATIONS]
    assert vectors
    assert [(str(tally), failed) for tally, failed in tallies(vectors, OPERATIONS) if not tally.is_kept] == []


def test_every_operation_has_vectors_of_our_own() -> None:
    assert {(vector.system, vector.op) for vector in read_vectors(OWN)} == OPERATIONS.keys()


def test_no_recorded_defect_passes_its_own_check() -> None:
    defects = [vector for vector in read_vectors(OWN) if not vector.is_clean]
    assert defects
    checks = {key: operation.is_safe for key, operation in OPERATIONS.items()}
    assert [vector.id for vector in defects if checks[vector.system, vector.op](vector.args, vector.expect)] == []


def test_an_answer_that_differs_is_counted_and_named(tmp_path: Path) -> None:
    lines = [LINE, LINE | {"id": "x-2", "expect": {"n": 5}}, LINE | {"id": "x-3", "class": "known_bug", "bug": "b"}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    double = Operation(lambda args: {"n": args["n"] * 2}, lambda args, found: found["n"] < args["n"])
    ((tally, failed),) = tallies(read_vectors(tmp_path), {("x", "double"): double})
    assert str(tally) == "x double 1/2 safe 0/1"
    assert failed == ["x-2", "x-3"]
    assert not tally.is_kept


def test_a_folder_with_what_nothing_answers_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps(LINE))
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == "x double not answered (of 1)\ntotal 0/1 safe 0/0\n"


def test_a_folder_without_vectors_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "there are no vectors" in capsys.readouterr().out


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps(LINE) + "\n{}")
    with pytest.raises(ValueError, match=r"x\.jsonl:2"):
        list(read_vectors(tmp_path))


def test_texts_are_written_out() -> None:
    nested = {"cat": ["a", {"repeat": {"cat": ["b", "c"]}, "times": 2}]}
    assert expanded({"text": [nested, 1], "repeat": "x"}) == {"text": ["abcbc", 1], "repeat": "x"}


@pytest.mark.parametrize(
    ("expected", "answer", "is_same"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {}, False),
        ([1, 2], (1, 2), True),
        ([1], [1, 2], False),
        (0.1 + 0.2, 0.3, True),
        (1, True, False),
        (1.0, 1, True),
        (None, {}, False),
        ("a", "b", False),
    ],
)
def test_what_agrees(expected: object, answer: object, is_same: bool) -> None:  # noqa: FBT001
    assert agrees(expected, answer) is is_same
