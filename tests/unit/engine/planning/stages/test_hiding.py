import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.stages.hiding import hide, hide_fraction, hide_to_one_of
from foldline.engine.policies.policy import Stage, Value
from foldline.engine.tokens.measures import exact_measure
from foldline.engine.wording import marker_tokens
from tests.support.conversations import Conversation, answer, assistant

LONG = "fold the line\n" * 60


def talk_of(count: int) -> Conversation:
    """Messages of one size, of user and assistant in turn; each is a unit."""
    return Conversation.of([user(LONG) if number % 2 == 0 else assistant(LONG) for number in range(count)])


def work(*names: str) -> list[Message]:
    head = assistant("", *(ToolCall(name, "ls", "{}") for name in names))
    return [head, *(answer(name, LONG) for name in names)]


def hidden_fraction(talk: Conversation, **parameters: Value) -> list[tuple[int, int]]:
    """The ranges of seqs that are hidden."""
    outline = talk.outline
    plan = hide_fraction(outline, Plan(outline.tokens), Stage("truncate", parameters))
    assert plan.tokens == outline.edited(plan.edits).tokens
    return [(edit.first, edit.last) for edit in plan.hides]


def test_a_fraction_of_what_follows_the_first_messages_is_hidden() -> None:
    assert hidden_fraction(talk_of(10), keep_first=2, fraction=0.5) == [(3, 6)]
    assert hidden_fraction(talk_of(10), keep_first=2, fraction=0.75) == [(3, 8)]
    assert hidden_fraction(talk_of(10), fraction=0.5) == [(1, 4)]


def test_without_a_fraction_nothing_is_hidden() -> None:
    assert hidden_fraction(talk_of(10)) == []
    assert hidden_fraction(talk_of(10), keep_first=2) == []


@pytest.mark.parametrize(("count", "last"), [(10, 6), (11, 6), (12, 6), (13, 6), (14, 8)])
def test_the_number_of_messages_is_rounded_down_to_an_even_one(count: int, last: int) -> None:
    assert hidden_fraction(talk_of(count), keep_first=2, fraction=0.5) == [(3, last)]


def test_the_number_of_messages_is_rounded_down_to_whole_units() -> None:
    talk = Conversation.of([user("go"), user("on"), *work("a"), *work("b", "c", "d"), user("and"), user("so")])
    assert hidden_fraction(talk, keep_first=2, fraction=0.5) == [(3, 4)]
    assert hidden_fraction(talk, keep_first=2, fraction=0.8) == [(3, 8)]
    assert hidden_fraction(talk, keep_first=2, fraction=1.0) == [(3, 9)]


def test_the_first_messages_stay_in_whole_units() -> None:
    talk = Conversation.of([user("go"), *work("a", "b"), *(message for name in "cdefg" for message in work(name))])
    talk.extend([user("on")])
    assert hidden_fraction(talk, keep_first=2, fraction=0.5) == [(5, 10)]


def test_a_live_summary_is_one_of_the_messages_and_stays() -> None:
    talk = talk_of(20)
    talk.summaries["s1"] = "They talked."
    talk.apply([Edit("condense", 3, 12, summary="s1", tokens=40, original_tokens=2_000)])
    # Eleven messages: two, the summary and eight more. Four of the nine go, the summary counted but not hidden.
    assert hidden_fraction(talk, keep_first=2, fraction=0.5) == [(13, 15)]


def test_the_last_user_message_and_what_follows_it_stay() -> None:
    talk = Conversation.of([user(LONG), assistant(LONG), assistant(LONG), user(LONG)])
    talk.extend([message for name in "abcd" for message in work(name)])
    assert hidden_fraction(talk, keep_first=1, fraction=1.0) == [(2, 3)]


def test_messages_after_the_last_user_message_are_hidden_if_that_is_among_the_first() -> None:
    talk = Conversation.of([user("go"), *(message for name in "abcdef" for message in work(name))])
    assert hidden_fraction(talk, keep_first=1, fraction=0.5) == [(2, 7)]


def test_an_open_batch_stays() -> None:
    talk = Conversation.of([user("go"), *work("a"), *work("b")])
    talk.extend([assistant("", ToolCall("x", "ls", "{}"), ToolCall("y", "ls", "{}")), answer("x", LONG)])
    assert hidden_fraction(talk, keep_first=1, fraction=1.0) == [(2, 5)]


@pytest.mark.parametrize(("count", "hidden"), [(2, []), (3, []), (4, []), (5, [(3, 4)])])
def test_a_small_history_is_left_alone(count: int, hidden: list[tuple[int, int]]) -> None:
    assert hidden_fraction(talk_of(count), keep_first=2, fraction=1.0) == hidden


def test_an_exchange_beside_the_first_messages_has_no_middle_to_take_from() -> None:
    talk = Conversation.of([user(LONG), assistant(LONG), assistant(LONG), assistant(LONG)])
    assert hidden_fraction(talk, keep_first=2, fraction=1.0) == []
    talk.extend([assistant(LONG)])
    assert hidden_fraction(talk, keep_first=2, fraction=1.0) == [(3, 4)]


def test_a_fraction_too_small_to_summarize_is_not_hidden() -> None:
    talk = Conversation.of([user("hi") if number % 2 == 0 else assistant("ho") for number in range(8)])
    assert hidden_fraction(talk, keep_first=2, fraction=0.5) == []


def test_units_are_hidden_until_the_goal_is_reached() -> None:
    outline = talk_of(10).outline
    whole = Plan(outline.tokens)
    two = hide(outline, whole, 0, 8, outline.tokens - 300)
    assert two.hides == (Edit("hide", 1, 2),)
    assert hide(outline, whole, 0, 8, two.tokens).hides == two.hides
    assert hide(outline, whole, 0, 8, two.tokens - 1).hides == (Edit("hide", 1, 3),)
    assert hide(outline, whole, 0, 8, 0).hides == (Edit("hide", 1, 8),)
    assert hide(outline, whole, 0, 8, outline.tokens) is whole


def test_units_are_hidden_until_they_are_worth_a_summary() -> None:
    outline = Conversation.of([*(user("word " * 35) for _ in range(5)), user("on")]).outline
    one = outline.items[0].original_tokens
    assert marker_tokens() < one <= exact_measure().least_pending < 2 * one
    assert hide(outline, Plan(outline.tokens), 0, 5, outline.tokens - 1).hides == (Edit("hide", 1, 2),)


def test_only_the_given_ends_are_ends() -> None:
    outline = talk_of(10).outline
    plan = hide_to_one_of(outline, Plan(outline.tokens), "collapse", 1, ends=[4, 7], goal=outline.tokens - 300)
    assert plan.hides == (Edit("hide", 2, 4),)
    assert plan.stages_used == ("collapse",)
    assert hide_to_one_of(outline, Plan(outline.tokens), "collapse", 1, ends=[4, 7], goal=0).hides == (
        Edit("hide", 2, 7),
    )


def test_hiding_from_the_front_goes_on_where_something_is_hidden_already() -> None:
    outline = talk_of(12).outline
    first = hide_fraction(outline, Plan(outline.tokens), Stage("truncate", {"keep_first": 2, "fraction": 0.4}))
    assert first.hidden == ((2, 6),)
    further = hide(outline, first, 0, 10, first.tokens - 400)
    assert further.hidden == ((0, 6),)
    assert further.tokens == outline.edited(further.edits).tokens < first.tokens
    assert hide(outline, first, 0, 10, 0).hidden == ((0, 10),)


def test_sliding_from_inside_what_is_hidden_counts_nothing_twice() -> None:
    outline = talk_of(12).outline
    hidden = Plan(outline.tokens).hiding("collapse", outline, 1, 5)
    plan = hide_fraction(outline, hidden, Stage("truncate", {"keep_first": 3, "fraction": 0.7}))
    assert plan.tokens == outline.edited(plan.edits).tokens
