from dataclasses import replace

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.collapse import collapse
from foldline.engine.planning.stages.hiding import hide_fraction
from foldline.engine.policies.policy import Stage
from foldline.engine.wording import marker_tokens
from tests.support.conversations import Conversation, answer, assistant
from tests.support.layouts import shape

GOALS = Goals(limit=9_000, trigger=8_000, target=0, keep_recent=0, summary_max=300, minimum_saving=0)
LONG = "fold the line\n" * 60


def turn(name: str) -> list[Message]:
    """A user message, a batch and an answer."""
    return [user(f"{name}?"), assistant("", ToolCall(name, "ls", "{}")), answer(name, LONG), assistant("So.")]


def turns(names: str) -> Conversation:
    return Conversation.of([message for name in names for message in turn(name)])


def collapsed(talk: Conversation, target: int = 0, plan: Plan | None = None) -> Plan:
    outline = talk.outline
    parameters = Parameters(replace(GOALS, target=target), is_asked=True, has_target=False, own=Stage("collapse"))
    return collapse(outline, plan or Plan(outline.tokens), parameters)


def after(talk: Conversation, target: int = 0) -> str:
    plan = collapsed(talk, target)
    assert plan.tokens == talk.outline.edited(plan.edits).tokens
    talk.apply(plan.edits)
    return shape(talk.live, talk.facts)


def test_every_turn_but_the_first_and_the_last_is_hidden() -> None:
    assert after(turns("abcd")) == "user batch batch marker user batch batch"


def test_whole_turns_are_hidden_from_the_second_one_on_until_the_target_is_reached() -> None:
    talk = turns("abcde")
    one = talk.outline.tokens // 5
    plan = collapsed(talk, talk.outline.tokens - one + marker_tokens())
    assert plan.hides == (Edit("hide", 5, 8),)
    assert plan.stages_used == ("collapse",)
    assert plan.tokens == talk.outline.tokens - one + marker_tokens()
    assert collapsed(talk, plan.tokens - 1).hides == (Edit("hide", 5, 12),)


def test_nothing_is_hidden_once_the_target_is_reached() -> None:
    talk = turns("abcd")
    assert collapsed(talk, talk.outline.tokens).edits == ()


def test_two_turns_are_a_first_and_a_last_one() -> None:
    assert collapsed(turns("ab")).edits == ()
    assert collapsed(Conversation.of([])).edits == ()


def test_what_comes_before_the_first_user_message_is_the_first_turn() -> None:
    talk = Conversation.of([assistant("Hello. " * 90), *turn("a"), *turn("b")])
    assert after(talk, 700) == "batch marker user batch batch"


def test_turns_too_small_to_summarize_are_not_hidden() -> None:
    talk = Conversation.of([*turn("a"), user("Thanks."), assistant("Welcome."), *turn("b")])
    assert collapsed(talk).edits == ()


def test_the_last_turn_stays_also_with_open_calls() -> None:
    talk = turns("abc")
    talk.extend([user("go"), assistant("", ToolCall("x", "ls", "{}"), ToolCall("y", "ls", "{}")), answer("x", LONG)])
    assert after(talk) == "user batch batch marker user batch"


def test_a_live_summary_in_the_middle_stays() -> None:
    talk = turns("abcde")
    talk.summaries["s1"] = "They worked."
    talk.apply([Edit("condense", 6, 8, summary="s1", tokens=30, original_tokens=267)])
    assert after(talk) == "user batch batch marker summary marker user batch batch"


def test_turns_hidden_before_are_hidden_on_as_one_run() -> None:
    talk = turns("abcde")
    talk.apply([Edit("hide", 5, 8)])
    plan = collapsed(talk)
    assert plan.hides == (Edit("hide", 5, 16),)
    assert plan.tokens == talk.outline.edited(plan.edits).tokens


def test_what_the_plan_hides_already_is_counted_once() -> None:
    talk = turns("abcdef")
    outline = talk.outline
    hidden = hide_fraction(outline, Plan(outline.tokens), Stage("truncate", {"keep_first": 1, "fraction": 0.5}))
    assert hidden.hides
    plan = collapsed(talk, 700, hidden)
    assert plan.tokens == outline.edited(plan.edits).tokens


def test_what_the_plan_hides_of_the_last_turn_is_not_forgotten() -> None:
    talk = turns("abcd")
    outline = talk.outline
    end = len(outline.items) - 1
    hidden = Plan(outline.tokens).hiding("truncate", outline, 1, 9).hiding("truncate", outline, 10, end)
    plan = collapsed(talk, 0, hidden)
    assert plan.tokens == outline.edited(plan.edits).tokens
