from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.outline import Summarized, Unit, outline_of
from foldline.engine.tokens.counter import MESSAGE, RESULT
from foldline.engine.tokens.measures import exact_measure, measure_of
from foldline.engine.wording import marker_tokens, placeholder_tokens, stub_tokens
from tests.support.conversations import Conversation, answer, assistant, read_call, units
from tests.support.layouts import shape

LS = ToolCall("a", "ls", "{}")


def conversation(*messages: Message) -> Conversation:
    return Conversation.of(messages)


def test_a_batch_is_one_unit() -> None:
    outline = conversation(user("go"), assistant("", LS), answer("a", "x"), assistant("done")).outline
    assert [(unit.kind, unit.first, unit.last) for unit in units(outline)] == [
        ("user", 1, 1),
        ("batch", 2, 3),
        ("batch", 4, 4),
    ]


def test_only_the_last_batch_can_be_open() -> None:
    talk = conversation(assistant("", LS), user("stop"), assistant("", LS))
    assert [unit.is_open for unit in units(talk.outline)] == [False, False, True]
    assert talk.outline.closed == 2
    assert talk.outline.open_unit == talk.outline.items[-1]
    talk.extend([answer("a", "x")])
    complete = talk.outline
    assert complete.open_unit is None
    assert complete.closed == 3


def test_calls_without_a_result_count_as_stubs_once_their_batch_is_closed() -> None:
    talk = conversation(assistant("", LS))
    before = talk.outline.tokens
    talk.extend([assistant("")])
    assert talk.outline.tokens == before + stub_tokens()


def test_the_last_user_message_is_no_late_result() -> None:
    outline = conversation(user("go"), assistant("ok"), answer("z", "late")).outline
    assert outline.last_user == 0
    assert [unit.kind for unit in units(outline)] == ["user", "batch", "late"]


def test_a_path_without_user_messages_has_no_last_one() -> None:
    assert conversation(assistant("hello")).outline.last_user == -1
    assert conversation().outline.last_user == -1


def test_neighbouring_hidden_units_share_one_marker() -> None:
    talk = conversation(*(user(f"message {number}") for number in range(5)))
    talk.apply([Edit("hide", 1, 1), Edit("hide", 2, 3)])
    assert shape(talk.live, talk.facts) == "marker user user"
    assert talk.outline.tokens == marker_tokens() + sum(entry.tokens for entry in talk.facts[3:])
    assert talk.outline.pending_tokens == sum(entry.tokens for entry in talk.facts[:3])


def test_a_summary_stands_for_what_it_covers() -> None:
    talk = conversation(*(user(f"message {number}") for number in range(4)))
    talk.apply([Edit("hide", 1, 3)])
    talk.apply([Edit("condense", 1, 2, summary="s1", tokens=40)])
    assert shape(talk.live, talk.facts) == "summary marker user"
    summary = talk.outline.items[0]
    assert isinstance(summary, Summarized)
    assert (summary.first, summary.last) == (1, 2)
    assert talk.outline.tokens == 40 + marker_tokens() + talk.facts[3].tokens
    assert talk.outline.pending_tokens == talk.facts[2].tokens


def test_edited_entries_count_as_they_show() -> None:
    talk = conversation(assistant("", read_call("a")), answer("a", "fold the line " * 100))
    before = talk.outline.tokens
    talk.apply([Edit("supersede", 2, 2)])
    assert (
        talk.outline.tokens
        == before - talk.facts[1].tokens + MESSAGE + RESULT + placeholder_tokens("read_file", "src/app.py")[1]
    )


def test_results_in_view_leave_hidden_ones_out() -> None:
    talk = conversation(assistant("", LS), answer("a", "x"), user("go"), assistant("", LS), answer("a", "y"))
    talk.apply([Edit("hide", 1, 2)])
    assert [(index, entry.seq) for index, entry in talk.outline.results] == [(2, 5)]


def test_editing_an_outline_is_the_outline_of_the_edited_path() -> None:
    talk = conversation(assistant("", LS), answer("a", "x" * 900), user("go"))
    edits = [Edit("clear", 2, 2), Edit("hide", 1, 2)]
    edited = talk.outline.edited(edits)
    talk.apply(edits)
    assert edited == talk.outline


def test_a_horizon_that_was_asked_for_before_the_edits_says_nothing_of_the_one_after_them() -> None:
    said = [[assistant("", LS), answer("a", word * 900), user("go on")] for word in ("x ", "y ", "z ")]
    talk = conversation(*(message for step in said for message in step))
    sizes = range(0, talk.outline.tokens + 50, 25)
    before = talk.outline
    assert [before.horizon(tokens) for tokens in sizes] == [talk.outline.horizon(tokens) for tokens in sizes]
    edits = [Edit("clear", 2, 2), Edit("excerpt", 5, 5, 0), Edit("hide", 4, 5)]
    edited = before.edited(edits)
    talk.apply(edits)
    assert [edited.horizon(tokens) for tokens in sizes] == [talk.outline.horizon(tokens) for tokens in sizes]


def test_an_empty_path_has_an_empty_outline() -> None:
    outline = Conversation(live=LiveEdits()).outline
    assert (outline.items, outline.tokens, outline.open_unit) == ([], 0, None)
    assert not units(outline, lambda unit: isinstance(unit, Unit))


def test_what_is_larger_than_the_smallest_summary_is_worth_one_by_the_exact_count() -> None:
    least = exact_measure().least_pending
    for tokens, is_worth_it in ((least, False), (least + 1, True)):
        facts = [entry._replace(tokens=tokens) for entry in conversation(user(" " * 1_000)).facts]
        outline = outline_of(facts, LiveEdits())
        seen = outline.measured(measure_of("chars4"))
        assert seen.tokens > measure_of("chars4").least_pending
        assert outline.is_worth_a_summary(0, 1) is seen.is_worth_a_summary(0, 1) is is_worth_it
