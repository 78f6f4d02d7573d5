from dataclasses import replace

from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.policies.policy import Stage, Value
from tests.support.conversations import answer, assistant
from tests.support.stages import cleared_by

GOALS = Goals(limit=2_000, trigger=1_600, target=0, keep_recent=300, summary_max=32, minimum_saving=0)


def work(call: str, text: str) -> list[Message]:
    return [assistant("", ToolCall(call, "ls", "{}")), answer(call, text)]


def stripped(*messages: Message, target: int = 0, **parameters: Value) -> list[int]:
    return cleared_by(Stage("strip", parameters), messages, replace(GOALS, target=target))


def test_long_results_of_older_messages_are_cleared() -> None:
    messages = [*work("a", "fold " * 60), *work("b", "x " * 100), user("1"), assistant("2"), user("3"), assistant("4")]
    assert stripped(*messages) == [2]
    assert stripped(*messages, longer_than_chars=199) == [2, 4]


def test_the_newest_messages_are_left_alone() -> None:
    messages = [*work("a", "fold " * 60), *work("b", "fold " * 60), *work("c", "fold " * 60)]
    assert stripped(*messages) == [2]
    assert stripped(*messages, keep_messages=0) == [2, 4, 6]
    assert stripped(*messages, keep_messages=9) == []


def test_nothing_is_cleared_below_the_target() -> None:
    assert stripped(*work("a", "fold " * 60), user("1"), user("2"), user("3"), user("4"), target=2_000) == []
