"""How many secrets of the table are gone from a masked text, and how many of what looks like one.

A failure lists every row that misses its aim: `pytest tests/unit/worker/test_masking_table.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from foldline_worker.summarizers.masking import mask, mask_arguments

from tests.support.masking_table import LOOK_ALIKES, SECRETS, Row, rows


def in_json(text: str) -> str:
    """The text as the output of a tool that answers JSON."""
    return json.dumps({"output": text}, ensure_ascii=False)


def in_a_command(text: str) -> str:
    """The text as the argument of a tool call."""
    return json.dumps({"command": text}, ensure_ascii=False)


WAYS: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "text": (str, mask),
    "json": (in_json, mask),
    "arguments": (in_a_command, mask_arguments),
}
each_way = pytest.mark.parametrize("way", WAYS)
# The secrets are made up anew for each.
each_seed = pytest.mark.parametrize("seed", [1, 2, 3])


def kept(table: list[Row], way: str) -> list[str]:
    """The rows with a part of a secret left, with the parts and the masked text."""
    put, masked = WAYS[way]
    texts = ((row, masked(put(row.text))) for row in table)
    return [f"{row.name}: {row.remains_in(text)[:3]} in {text!r}" for row, text in texts if row.remains_in(text)]


def changed(table: list[Row], way: str) -> list[str]:
    """The rows that are not the same afterwards, with the masked text."""
    put, masked = WAYS[way]
    return [f"{row.name}: {masked(put(row.text))!r}" for row in table if masked(put(row.text)) != put(row.text)]


@each_seed
@each_way
def test_of_a_hundred_secrets_at_most_two_are_kept(way: str, seed: int) -> None:
    table = rows(SECRETS, seed)
    missed = kept(table, way)
    assert len(table) >= 150
    assert all(row.secrets for row in table)
    assert len(missed) <= len(table) * 0.02, "\n".join((f"{len(missed)} of {len(table)} secrets are kept:", *missed))


@each_seed
@each_way
def test_of_a_hundred_look_alikes_at_most_three_are_masked(way: str, seed: int) -> None:
    table = rows(LOOK_ALIKES, seed)
    wrong = changed(table, way)
    assert len(table) >= 60
    assert len(wrong) <= len(table) * 0.03, "\n".join((f"{len(wrong)} of {len(table)} look-alikes are masked:", *wrong))


@each_way
def test_masking_a_row_again_changes_nothing(way: str) -> None:
    put, masked = WAYS[way]
    for row in rows((*SECRETS, *LOOK_ALIKES), seed=4):
        once = masked(put(row.text))
        assert masked(once) == once, row.name
