from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.recall.quoting import (
    FRAME,
    NOTHING,
    QUOTE,
    Attribution,
    Neighbour,
    Passage,
    quotes_within,
)
from foldline.engine.recall.visibility import OutOfView
from foldline.engine.tokens.counter import count_text

BREAKS = st.sampled_from(("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"))
LINES = st.lists(st.text(max_size=20) | BREAKS | st.just(FRAME), max_size=8).map("".join)


def passage(text: str, tool: str | None = None, before: Neighbour | None = None) -> Passage:
    return Passage(Attribution("e0-1", "tool", tool), OutOfView.CLEARED, text, 0, len(text), None, before)


@given(LINES, LINES)
def test_no_text_or_name_can_stand_outside_of_its_quote(text: str, tool: str) -> None:
    quotes = quotes_within([passage(text, tool or None)], 2_000)
    frame, _, source, *quoted = quotes.text.splitlines()
    assert frame == FRAME
    assert source.endswith("returned (entry e0-1):")
    assert all(line.startswith(QUOTE) for line in quoted)


def test_a_passage_says_who_said_it_and_what_stands_beside_it() -> None:
    call = Neighbour(Attribution("e0-1", "assistant"), "read_file path: a.py")
    reply = Neighbour(Attribution("e0-3", "user"), "Thanks.")
    found = Passage(Attribution("e0-2", "tool", "read_file"), OutOfView.HIDDEN, "port = 80", 0, 9, None, call, reply)
    assert quotes_within([found], 500).text.splitlines()[2:] == [
        "The assistant said (entry e0-1):",
        "> read_file path: a.py",
        "The tool read_file returned (entry e0-2):",
        "> port = 80",
        "The user said (entry e0-3):",
        "> Thanks.",
    ]


@given(st.lists(st.text(min_size=1, max_size=2_000), max_size=6), st.integers(100, 3_000))
def test_an_answer_takes_no_more_tokens_than_it_may(texts: list[str], most: int) -> None:
    quotes = quotes_within(map(passage, texts), most)
    assert quotes.tokens == count_text(quotes.text) <= most


@given(
    st.lists(
        st.sampled_from(("👩‍👩‍👧‍👦", "e" + "\u0301" * 30, "🇩🇪", "x", "word ", "\n")), min_size=20, max_size=400
    ).map("".join),
    st.integers(100, 2_000),
    st.data(),
)
def test_a_passage_of_long_graphemes_is_cut_between_them(text: str, most: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    found = Passage(Attribution("e0-1", "user"), OutOfView.HIDDEN, text, start, stop)
    quotes = quotes_within([found], most)
    assert quotes.tokens <= most
    assert all(shown.text in text and len(shown.text) > 0 for shown in quotes.passages)


def test_a_text_of_one_grapheme_is_no_endless_work() -> None:
    for text in ("👩‍👩‍👧‍👦" * 500, "e" + "\u0301" * 3_000):
        assert quotes_within([passage(text)], 2_000).tokens <= 2_000


@pytest.mark.parametrize("filler", ["👩‍👩‍👧‍👦 ", "🇩🇪", "नमस्ते "])
def test_a_best_line_at_the_end_stays_whole(filler: str) -> None:
    line = "the port of the server is 5432"
    for number in range(200, 240):
        text = f"{filler * number}\n{line}"
        start = len(text) - len(line)
        found = Passage(Attribution("e0-1", "user"), OutOfView.HIDDEN, text, start, len(text))
        (shown,) = quotes_within([found], 700).passages
        assert shown.text.endswith(line)
        assert shown.text[shown.start : shown.stop] == line


def test_a_long_passage_is_cut_around_its_best_line() -> None:
    lines = [f"line {number} says nothing" for number in range(60)]
    lines[40] = "the port of the server is 5432"
    text = "\n".join(lines)
    start = text.index(lines[40])
    found = Passage(Attribution("e0-1", "user"), OutOfView.HIDDEN, text, start, start + len(lines[40]))
    (shown,) = quotes_within([found], 300).passages
    assert lines[40] in shown.text
    assert shown.text[shown.start : shown.stop] == lines[40]
    assert len(shown.text) < len(text)


def test_nothing_found_is_said() -> None:
    assert quotes_within([], 100).text == NOTHING


def test_a_passage_keeps_most_of_its_text_before_its_neighbours_are_shown() -> None:
    beside = Neighbour(Attribution("e0-1", "assistant"), "word " * 150)
    found = Passage(Attribution("e0-2", "user"), OutOfView.HIDDEN, "so it goes " * 60, 0, 10, None, beside, beside)
    (shown,) = quotes_within([found], 1_000).passages
    (alone,) = quotes_within([Passage(found.source, found.out_of_view, found.text, 0, 10)], 1_000).passages
    assert len(shown.text) >= 0.6 * len(alone.text)
