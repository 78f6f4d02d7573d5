import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.facts import facts_of
from foldline.engine.messages import BRANCH_ROLE, Message, ToolCall, ToolResult, user
from foldline.engine.planning.batches import CALLS_MAX, Orphan, Orphans, Tail, orphans_of, place, place_all
from foldline.engine.wording import late_tokens, stub_tokens
from tests.support.conversations import answer, assistant, read_call


def placed(*messages: Message) -> tuple[list[tuple[int, bool]], list[str]]:
    """For each message its unit and whether it is late; and the ids of the calls still open."""
    facts, tail = place_all(messages)
    return [(entry.unit, entry.is_late) for entry in facts], [call.id for call in tail.open_calls]


CALLS = assistant("", ToolCall("a", "ls", "{}"), ToolCall("b", "ls", "{}"))


def test_results_join_the_batch_of_their_calls_in_any_order() -> None:
    assert placed(user("go"), CALLS, answer("b", "2"), answer("a", "1")) == (
        [(1, False), (2, False), (2, False), (2, False)],
        [],
    )


def test_calls_without_a_result_stay_open() -> None:
    assert placed(CALLS, answer("a", "1"))[1] == ["b"]


def test_a_user_message_closes_what_is_open() -> None:
    assert placed(CALLS, answer("a", "1"), user("next"))[1] == []


def test_a_result_after_its_batch_was_closed_is_late_and_stands_alone() -> None:
    assert placed(CALLS, user("next"), answer("a", "1")) == ([(1, False), (2, False), (3, True)], [])


def test_a_repeated_result_stays_with_an_open_batch() -> None:
    assert placed(CALLS, answer("a", "1"), answer("a", "again")) == ([(1, False), (1, False), (1, True)], ["b"])


def test_a_repeated_result_stands_alone_once_the_batch_is_complete() -> None:
    assert placed(CALLS, answer("a", "1"), answer("b", "2"), answer("a", "again"))[0][-1] == (4, True)


def test_calls_that_share_an_id_are_answered_one_by_one() -> None:
    twins = assistant("", ToolCall("a", "ls", "{}"), ToolCall("a", "pwd", "{}"))
    assert placed(twins, answer("a", "1"))[1] == ["a"]
    assert placed(twins, answer("a", "1"), answer("a", "2"))[1] == []


def test_a_result_that_names_the_tool_alone_answers_its_first_open_call() -> None:
    calls = assistant("", ToolCall("a", "ls", "{}"), ToolCall("b", "pwd", "{}"), ToolCall("c", "ls", "{}"))
    first, second, third = (Message("tool", (ToolResult(None, (), name),)) for name in ("ls", "ls", "cd"))
    facts, tail = place_all([calls, first, second, third])
    assert [(entry.answers, entry.tool, entry.is_late) for entry in facts[1:]] == [
        ("a", "ls", False),
        ("c", "ls", False),
        ("", "cd", True),
    ]
    assert [call.id for call in tail.open_calls] == ["b"]


def test_a_result_learns_what_its_call_reads() -> None:
    facts, _ = place_all([assistant("", read_call("a", "a.py")), answer("a", "text")])
    assert facts[1].read == facts[0].calls[0].read is not None


def test_closing_open_calls_adds_a_stub_for_each() -> None:
    facts = facts_of(user("next"))
    open_calls = facts_of(CALLS).calls
    assert place(facts, 2, Tail(1, open_calls)).added_tokens == facts.tokens + 2 * stub_tokens()


def test_a_late_result_adds_what_quoting_it_takes() -> None:
    facts = facts_of(answer("z", "late"))
    assert place(facts, 1, Tail()).added_tokens == facts.tokens + late_tokens()


BRANCH = facts_of(user("They tried another way."))._replace(role=BRANCH_ROLE)


def test_the_summary_of_a_branch_stays_with_an_open_batch_and_closes_nothing() -> None:
    open_batch = Tail(2, facts_of(CALLS).calls)
    placed = place(BRANCH, 4, open_batch)
    assert placed.tail == open_batch
    assert (placed.facts.seq, placed.facts.unit, placed.facts.is_late) == (4, 2, True)
    assert placed.added_tokens == BRANCH.tokens
    answered = place(facts_of(answer("a", "1")), 5, placed.tail)
    assert (answered.facts.unit, answered.facts.is_late, answered.tail.open_calls) == (
        2,
        False,
        open_batch.open_calls[1:],
    )


def test_the_summary_of_a_branch_stands_alone_where_nothing_is_open() -> None:
    placed = place(BRANCH, 4, Tail(2))
    assert (placed.facts.seq, placed.facts.unit, placed.facts.is_late) == (4, 4, False)
    assert (placed.tail, placed.added_tokens) == (Tail(4), BRANCH.tokens)


def test_a_late_result_after_the_summary_of_a_branch_stands_alone() -> None:
    tail = place(BRANCH, 4, Tail(2)).tail
    assert place(facts_of(answer("a", "1")), 5, tail).facts.unit == 5


def test_the_summary_of_a_branch_in_a_batch_is_no_orphan() -> None:
    facts, tail = place_all([CALLS, answer("a", "1")])
    branch = place(BRANCH, 3, tail).facts
    assert orphans_of([*facts, branch]) == Orphans(calls=(Orphan(1, "b"),))


def test_numbering_starts_at_the_given_seq() -> None:
    facts, _ = place_all([user("a"), user("b")], first_seq=7)
    assert [entry.seq for entry in facts] == [7, 8]


def orphans(*messages: Message) -> Orphans:
    return orphans_of(place_all(messages)[0])


def test_pairs_in_any_order_leave_no_orphans() -> None:
    assert orphans(user("go"), CALLS, answer("b", "2"), answer("a", "1"), user("next")) == Orphans()


def test_orphans_are_reported_by_their_seqs_and_the_ids_of_the_calls() -> None:
    found = orphans(answer("z", "left over"), CALLS, answer("b", "2"), user("next"), assistant("", read_call("c")))
    assert found == Orphans(calls=(Orphan(2, "a"), Orphan(5, "c")), results=(Orphan(1, "z"),))


def test_a_late_result_is_an_orphan_and_so_is_its_call() -> None:
    assert orphans(CALLS, answer("a", "1"), user("next"), answer("b", "2")) == Orphans(
        (Orphan(1, "b"),), (Orphan(4, "b"),)
    )


def test_a_repeated_result_is_an_orphan() -> None:
    assert orphans(CALLS, answer("a", "1"), answer("a", "again"), answer("b", "2")).results == (Orphan(3, "a"),)


def test_of_calls_that_share_an_id_the_missing_results_are_counted() -> None:
    twins = assistant("", ToolCall("a", "ls", "{}"), ToolCall("b", "ls", "{}"), ToolCall("a", "pwd", "{}"))
    assert orphans(twins, answer("a", "1"), user("next")).calls == (Orphan(1, "b"), Orphan(1, "a"))


def test_a_message_has_so_many_calls_at_most_because_each_result_looks_for_its_own() -> None:
    calls = [ToolCall(f"c{number}", "ls", "{}") for number in range(CALLS_MAX + 1)]
    assert placed(assistant("", *calls[:-1]))[1] == [call.id for call in calls[:-1]]
    with pytest.raises(InvalidMessage, match="messages: must not have a message with more than 256 tool calls"):
        placed(assistant("", *calls))
