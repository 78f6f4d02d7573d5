from dataclasses import replace

from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.deduplicate import deduplicate
from foldline.engine.planning.stages.microcompact import microcompact
from foldline.engine.planning.stages.strip import strip
from foldline.engine.policies.policy import Stage, Value
from tests.support.conversations import Conversation, answer, assistant, read_call
from tests.support.stages import cleared_by

LONG = "fold the line\n" * 60
GOALS = Goals(limit=2_000, trigger=1_600, target=0, keep_recent=300, summary_max=32, minimum_saving=0)


def work(call: str, tool: str = "Bash", text: str = LONG) -> list[Message]:
    return [assistant("", ToolCall(call, tool, "{}")), answer(call, text)]


def cleared(*messages: Message, target: int = 0, **parameters: Value) -> list[int]:
    return cleared_by(Stage("microcompact", parameters), messages, replace(GOALS, target=target))


def test_all_but_the_newest_results_are_cleared() -> None:
    messages = [*work("a"), *work("b"), *work("c"), assistant("done")]
    assert cleared(*messages, keep_results=2) == [2]
    assert cleared(*messages, keep_results=5) == []


def test_one_result_stays_whatever_is_asked() -> None:
    assert cleared(*work("a"), *work("b"), assistant("done"), keep_results=0) == [2]


def test_only_results_of_the_named_tools_are_cleared_and_counted() -> None:
    messages = [*work("a", "WebFetch"), *work("b", "bash"), *work("c", "BASH"), *work("d", "WebFetch"), user("so?")]
    assert cleared(*messages, tools=("Bash", "Grep")) == [4]


def test_the_last_turns_stay() -> None:
    messages = [user("one"), *work("a"), *work("b"), user("two"), *work("c"), user("three"), *work("d"), user("four")]
    assert cleared(*messages, keep_turns=0) == [3, 5, 8]
    assert cleared(*messages, keep_turns=2) == [3, 5, 8]
    assert cleared(*messages, keep_turns=3) == [3, 5]
    assert cleared(*messages, keep_turns=9) == []


def test_an_open_batch_and_what_is_small_stay() -> None:
    open_batch = assistant("", ToolCall("x", "Bash", "{}"), ToolCall("y", "Bash", "{}"))
    assert cleared(*work("a", text="ok"), *work("b"), open_batch, answer("x", LONG), keep_results=0) == [4]


def test_nothing_is_cleared_below_the_target() -> None:
    assert cleared(*work("a"), *work("b"), target=2_000) == []


def test_neither_microcompact_nor_strip_clears_the_read_that_a_pointer_points_to() -> None:
    reads = [said for name in "ab" for said in (assistant("", read_call(name, "a.py")), answer(name, LONG))]
    outline = Conversation.of([*reads, *work("c"), *work("d"), user("on"), user("so?")]).outline
    pointed = deduplicate(
        outline, Plan(outline.tokens), Parameters(GOALS, is_asked=False, has_target=False, own=Stage("deduplicate"))
    )
    assert [edit.first for edit in pointed.edits] == [2]
    for stage in (microcompact, strip):
        own = Stage(stage.__name__, {"keep_messages": 1} if stage is strip else {})
        plan = stage(outline, pointed, Parameters(GOALS, is_asked=False, has_target=False, own=own))
        assert {edit.first for edit in plan.edits if edit.kind == "clear"} & {4, 6} == {6}
