import pytest

from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user
from foldline.engine.tokens import counter


def test_an_ordinary_sentence_counts_as_the_o200k_encoding_has_it() -> None:
    assert counter.count_text("Hello, world!") == 4
    assert counter.count_text("") == 0


def test_special_tokens_in_a_text_are_text() -> None:
    assert counter.count_text("<|endoftext|>") > 1


def test_a_lone_surrogate_counts_as_a_question_mark() -> None:
    assert counter.count_text("a \ud83d b") == counter.count_text("a ? b")


def test_a_message_is_its_parts_and_framing() -> None:
    call = ToolCall("c1", "ls", "{}")
    assert counter.count_message(user("Hello, world!")) == counter.MESSAGE + 4
    assert counter.count_part(call) == counter.CALL + counter.count_text("ls") + counter.count_text("{}")
    assert counter.count_message(Message("assistant", (Text("Hello, world!"), call))) == 4 + 4 + counter.count_part(
        call
    )


def test_a_result_counts_all_it_holds() -> None:
    result = ToolResult(
        "c1", (Text("Hello, world!"), Image(url="https://example.org/a.png"), Other("x", {"type": "x"}))
    )
    assert counter.count_part(result) == (
        counter.RESULT + 4 + counter.IMAGE + counter.MARK + counter.count_text('{"type":"x"}')
    )


def test_thinking_counts_as_its_text() -> None:
    assert counter.count_part(Thinking("Hello, world!", "signature")) == 4


def test_tools_count_as_their_json_and_framing() -> None:
    assert counter.count_tools([]) == 0
    assert counter.count_tools([{"name": "ls"}] * 2) == 2 * (counter.TOOL + counter.count_text('{"name":"ls"}'))


@pytest.mark.parametrize(
    ("count", "multiplier", "expected"), [(100, 1000, 100), (100, 1237, 124), (1, 1001, 2), (0, 2000, 0)]
)
def test_scaling_rounds_up(count: int, multiplier: int, expected: int) -> None:
    assert counter.scaled(count, multiplier) == expected


@pytest.mark.parametrize("multiplier", [1000, 1237, 1999, 2000])
def test_unscaling_gives_the_largest_count_that_fits(multiplier: int) -> None:
    for limit in range(1, 200):
        most = counter.unscaled(limit, multiplier)
        assert counter.scaled(most, multiplier) <= limit < counter.scaled(most + 1, multiplier)
