from compaction.budget import Goals
from compaction.messages import Message, ToolCall, user
from compaction.plan import Parameters, Plan
from compaction.policy import Stage
from compaction.stages.deduplicate import deduplicate
from tests.support.conversations import Conversation, answer, assistant, read_call

LONG = "fold the line\n" * 60
GOALS = Goals(limit=9_000, trigger=9_000, target=9_000, keep_recent=0, summary_max=32, minimum_saving=0)


def read(call_id: str, path: str = "a.py", text: str = LONG, **lines: int) -> list[Message]:
    return [assistant("", read_call(call_id, path, **lines)), answer(call_id, text)]


def superseded(*messages: Message) -> list[int]:
    outline = Conversation.of(messages).outline
    plan = deduplicate(
        outline, Plan(outline.tokens), Parameters(GOALS, is_asked=True, has_target=False, own=Stage("deduplicate"))
    )
    assert {edit.kind for edit in plan.edits} <= {"supersede"}
    return sorted(plan.cells)


def test_the_older_of_two_reads_of_a_file_becomes_a_pointer() -> None:
    assert superseded(*read("a"), *read("b")) == [2]


def test_of_many_reads_the_last_one_stays() -> None:
    assert superseded(*read("a"), *read("b"), *read("c")) == [2, 4]


def test_reads_of_different_files_stay() -> None:
    assert superseded(*read("a", "a.py"), *read("b", "b.py")) == []


def test_a_read_of_some_lines_is_superseded_by_one_of_all() -> None:
    assert superseded(*read("a", start_line=5, end_line=9), *read("b")) == [2]


def test_a_read_of_all_is_not_superseded_by_one_of_some_lines() -> None:
    assert superseded(*read("a"), *read("b", start_line=5, end_line=9)) == []


def test_a_failed_read_supersedes_nothing() -> None:
    assert superseded(*read("a"), *read("b", text="Error: no such file" + LONG)) == []


def test_a_short_read_is_not_worth_a_pointer() -> None:
    assert superseded(*read("a", text="x = 1"), *read("b")) == []


def test_reads_in_an_open_batch_stay_but_supersede_older_ones() -> None:
    batch = assistant("", read_call("b", "a.py"), read_call("c", "a.py"), ToolCall("d", "ls", "{}"))
    assert superseded(*read("a"), batch, answer("b", LONG), answer("c", LONG)) == [2]


def test_a_late_result_is_no_read() -> None:
    assert superseded(*read("a"), user("stop"), answer("a", LONG)) == []
