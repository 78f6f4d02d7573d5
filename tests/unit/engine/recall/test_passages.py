from __future__ import annotations

from foldline.engine.messages import Message, Text, ToolCall, user
from foldline.engine.recall.passages import MOST_PASSAGES, PASSAGE_CHARS, index_of, passages_of


def test_passages_are_the_text_cut_after_lines() -> None:
    text = "".join(f"line {number} of the text\n" for number in range(400))
    passages = passages_of(user(text))
    assert "".join(passages) == text
    assert all(passage.endswith("\n") and len(passage) <= PASSAGE_CHARS for passage in passages)


def test_a_text_without_breaks_is_cut_anywhere() -> None:
    passages = passages_of(user("x" * 2_500))
    assert [len(passage) for passage in passages] == [1_000, 1_000, 500]


def test_of_a_huge_text_the_beginning_and_the_end_are_indexed() -> None:
    text = "\n".join(f"word{number}" for number in range(100_000))
    indexed = index_of(user(text), ())
    assert len(indexed.passages) == MOST_PASSAGES
    assert "word0" in indexed.passages[0].split()
    assert "word99999" in indexed.passages[-1].split()


def test_the_texts_in_arguments_are_read_without_their_escapes() -> None:
    call = ToolCall("c1", "write_file", '{"path": "a.py", "content": "one\\ntwo"}')
    (passage,) = passages_of(Message("assistant", (Text("Writing."), call)))
    assert passage.splitlines() == ["Writing.", "write_file", "path: a.py", "content: one", "two"]


def test_a_text_of_many_short_passages_loses_nothing() -> None:
    text = "\n".join("x" * 510 for _ in range(190))
    assert "".join(passages_of(user(text))) == text
