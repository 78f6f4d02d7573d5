import pytest

from compaction import tokens
from compaction.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user


def test_an_ordinary_sentence_counts_as_the_o200k_encoding_has_it() -> None:
    assert tokens.count_text("Hello, world!") == 4
    assert tokens.count_text("") == 0


def test_special_tokens_in_a_text_are_text() -> None:
    assert tokens.count_text("<|endoftext|>") > 1


def test_a_lone_surrogate_counts_as_a_question_mark() -> None:
    assert tokens.count_text("a \ud83d b") == tokens.count_text("a ? b")


def test_the_heuristic_is_above_the_exact_count_on_common_texts() -> None:
    for text in (
        "The quick brown fox. " * 20,
        "def parse(row):\n    return row\n" * 20,
        "日本語の文章です。" * 20,
        "why? " * 50,
        '{"path": "src/app.py", "line": 12}, ' * 20,
    ):
        assert tokens.count_heuristically(text) >= tokens.count_text(text)


def test_a_message_is_its_parts_and_framing() -> None:
    call = ToolCall("c1", "ls", "{}")
    assert tokens.count_message(user("Hello, world!")) == tokens.MESSAGE + 4
    assert tokens.count_part(call) == tokens.CALL + tokens.count_text("ls") + tokens.count_text("{}")
    assert tokens.count_message(Message("assistant", (Text("Hello, world!"), call))) == 4 + 4 + tokens.count_part(call)


def test_a_result_counts_all_it_holds() -> None:
    result = ToolResult(
        "c1", (Text("Hello, world!"), Image(url="https://example.org/a.png"), Other("x", {"type": "x"}))
    )
    assert tokens.count_part(result) == (
        tokens.RESULT + 4 + tokens.IMAGE + tokens.MARK + tokens.count_text('{"type":"x"}')
    )


def test_thinking_counts_as_its_text() -> None:
    assert tokens.count_part(Thinking("Hello, world!", "signature")) == 4


def test_tools_count_as_their_json_and_framing() -> None:
    assert tokens.count_tools([]) == 0
    assert tokens.count_tools([{"name": "ls"}] * 2) == 2 * (tokens.TOOL + tokens.count_text('{"name":"ls"}'))


@pytest.mark.parametrize(
    ("count", "multiplier", "expected"), [(100, 1000, 100), (100, 1237, 124), (1, 1001, 2), (0, 2000, 0)]
)
def test_scaling_rounds_up(count: int, multiplier: int, expected: int) -> None:
    assert tokens.scaled(count, multiplier) == expected


@pytest.mark.parametrize("multiplier", [1000, 1237, 1999, 2000])
def test_unscaling_gives_the_largest_count_that_fits(multiplier: int) -> None:
    for limit in range(1, 200):
        most = tokens.unscaled(limit, multiplier)
        assert tokens.scaled(most, multiplier) <= limit < tokens.scaled(most + 1, multiplier)
