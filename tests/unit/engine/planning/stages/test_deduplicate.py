from dataclasses import replace

from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.deduplicate import deduplicate
from foldline.engine.policies.policy import Stage, Value
from foldline.engine.tokens.measures import exact_measure
from foldline.engine.wording import placeholder_tokens
from tests.support.conversations import Conversation, answer, assistant, read_call

LONG = "fold the line\n" * 60
GOALS = Goals(limit=9_000, trigger=9_000, target=9_000, keep_recent=0, summary_max=32, minimum_saving=0)


def read(call_id: str, path: str = "a.py", text: str = LONG, **lines: int) -> list[Message]:
    return [assistant("", read_call(call_id, path, **lines)), answer(call_id, text)]


def superseded(*messages: Message, target: int = 9_000, **own: Value) -> list[int]:
    outline = Conversation.of(messages).outline
    parameters = Parameters(
        replace(GOALS, target=target), is_asked=True, has_target=False, own=Stage("deduplicate", own)
    )
    plan = deduplicate(outline, Plan(outline.tokens), parameters)
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


def test_a_read_of_less_than_half_the_size_is_taken_for_a_part_of_the_older_one() -> None:
    assert superseded(*read("a"), *read("b", text=LONG[: len(LONG) // 2])) == [2]
    assert superseded(*read("a"), *read("b", text=LONG[: len(LONG) // 3])) == []


def test_a_failed_read_supersedes_nothing() -> None:
    assert superseded(*read("a"), *read("b", text="Error: no such file" + LONG)) == []


def test_a_short_read_is_not_worth_a_pointer() -> None:
    assert superseded(*read("a", text="x = 1"), *read("b")) == []


def test_reads_in_an_open_batch_stay_but_supersede_older_ones() -> None:
    batch = assistant("", read_call("b", "a.py"), read_call("c", "a.py"), ToolCall("d", "ls", "{}"))
    assert superseded(*read("a"), batch, answer("b", LONG), answer("c", LONG)) == [2]


def test_a_late_result_is_no_read() -> None:
    assert superseded(*read("a"), user("stop"), answer("a", LONG)) == []
    late = answer("a", f"Reading a.py\n{LONG}")
    assert superseded(*said("b"), user("stop"), late, *said("c"), by_words=True) == [2]


def said(call_id: str, path: str = "a.py", tool: str = "shell") -> list[Message]:
    """A result that only its own first line makes a read."""
    return [assistant("", ToolCall(call_id, tool, "{}")), answer(call_id, f"Reading {path}\n{LONG}")]


def test_the_first_line_of_a_result_makes_it_a_read_where_words_count() -> None:
    assert superseded(*said("a"), *said("b")) == []
    assert superseded(*said("a"), *said("b"), by_words=True) == [2]
    assert superseded(*said("a"), *said("b", "b.py"), by_words=True) == []


def test_words_of_a_result_replace_only_words_of_the_same_tool() -> None:
    assert superseded(*read("a"), *said("b"), by_words=True) == []
    assert superseded(*said("a"), *said("b", tool="fetch"), by_words=True) == []
    assert superseded(*said("a"), *read("b"), by_words=True) == []


def saving_share(text: str = LONG) -> float:
    """What a pointer saves of a read."""
    content = exact_measure().content(Conversation.of(read("a", text=text)).facts[1])
    return 1 - placeholder_tokens("read_file", "a.py")[1] / content


def test_all_reads_stay_where_all_together_save_too_small_a_share_of_them() -> None:
    share = saving_share()
    assert superseded(*read("a"), *read("b"), *read("c"), minimum_saving_share=share) == [2, 4]
    assert superseded(*read("a"), *read("b"), *read("c"), minimum_saving_share=share + 0.001) == []


def test_the_share_is_of_what_is_superseded_and_not_of_what_stays() -> None:
    assert superseded(*read("a"), *read("b", text=LONG * 20), minimum_saving_share=0.9) == [2]
    assert superseded(*read("a"), *read("b"), *read("c", "c.py", LONG * 20), minimum_saving_share=0.9) == [2]


def test_small_reads_lower_the_share_of_them_all() -> None:
    small = "fold " * 12
    assert superseded(*read("a"), *read("b"), minimum_saving_share=0.9) == [2]
    files = [message for name in "cdefg" for message in (*read(name, name, small), *read(f"{name}2", name, small))]
    assert saving_share(small) < 0.9
    assert superseded(*read("a"), *read("b"), *files, minimum_saving_share=0.9) == []


def test_the_target_stops_it_only_where_its_parameters_say_so() -> None:
    messages = [*read("a"), *read("b")]
    tokens = Conversation.of(messages).outline.tokens
    assert superseded(*messages, target=tokens) == [2]
    assert superseded(*messages, target=tokens, stops_at_target=True) == []
    assert superseded(*messages, target=tokens - 1, stops_at_target=True) == [2]
