import json
from dataclasses import replace

import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.truncate import truncate
from foldline.engine.policies.policy import Stage
from tests.support.conversations import Conversation, answer, assistant
from tests.support.layouts import layout, shape

GOALS = Goals(limit=600, trigger=500, target=300, keep_recent=100, summary_max=64, minimum_saving=0)
LONG = "fold the line\n" * 60
LAYOUT = """\
01 user                  5
02 assistant             14
03 tool       excerpt    248 → 103
04 assistant  excerpt    258 → 113
05 tool       excerpt    248 → 103
06 assistant             14
07 tool       excerpt    248 → 103
08 assistant             14
09 tool                  9"""


def work(name: str, text: str = LONG, arguments: str = "{}") -> list[Message]:
    return [assistant("", ToolCall(name, "ls", arguments)), answer(name, text)]


def truncated(talk: Conversation, goals: Goals = GOALS, *, has_target: bool = False) -> Plan:
    outline = talk.outline
    return truncate(
        outline,
        Plan(outline.tokens),
        Parameters(goals, is_asked=has_target, has_target=has_target, own=Stage("truncate")),
    )


def after(talk: Conversation, goals: Goals = GOALS) -> str:
    talk.apply(truncated(talk, goals).edits)
    return shape(talk.live, talk.facts)


def test_a_view_that_fits_is_left_alone() -> None:
    talk = Conversation.of([user("go"), *work("a"), user("on")])
    assert truncated(talk).edits == ()


def test_a_target_of_ones_own_is_gone_down_to_even_if_the_view_fits() -> None:
    talk = Conversation.of([user("go"), *work("a"), *work("b"), user("on")])
    assert truncated(talk, replace(GOALS, limit=9_000), has_target=True).tokens <= GOALS.target


def test_older_turns_go_first_and_oldest_first() -> None:
    talk = Conversation.of([user("go"), *work("a"), user("and"), *work("b"), user("on"), *work("c", "ok")])
    assert after(talk, replace(GOALS, limit=400, target=350)) == "marker user batch user batch"


def test_the_layout_of_a_turn_that_is_too_long() -> None:
    arguments = json.dumps({"content": LONG})
    talk = Conversation.of([user("go"), *work("a"), *work("b", arguments=arguments), *work("c"), *work("d", "ok")])
    assert layout(talk.outline, truncated(talk, replace(GOALS, target=480))) == LAYOUT


def test_batches_of_the_current_turn_are_hidden_when_excerpts_are_not_enough() -> None:
    talk = Conversation.of([user("go"), *(message for name in "abcdefgh" for message in work(name))])
    assert after(talk) == "user marker batch batch"


def test_the_newest_complete_batch_goes_last() -> None:
    talk = Conversation.of([user("go"), assistant("word " * 200), assistant("word " * 400)])
    assert after(talk) == "user marker batch"
    assert after(talk, replace(GOALS, limit=200)) == "user marker"


def test_an_open_batch_is_never_edited() -> None:
    batch = assistant("word " * 200, ToolCall("y", "ls", "{}"), ToolCall("z", "ls", "{}"))
    talk = Conversation.of([user("go"), *work("a"), batch, answer("y", LONG)])
    assert all(edit.last < 4 for edit in truncated(talk, replace(GOALS, limit=50, target=20)).edits)


def test_the_last_user_message_is_never_edited() -> None:
    talk = Conversation.of([user("word " * 900), assistant("ok")])
    assert truncated(talk).edits == ()


def test_a_session_without_user_messages_is_one_turn() -> None:
    talk = Conversation.of([message for name in "abcdefgh" for message in work(name)])
    assert after(talk) == "marker batch batch"


def test_a_run_too_small_to_summarize_is_not_hidden() -> None:
    talk = Conversation.of([user("a"), assistant("b"), user("word " * 900)])
    assert truncated(talk).edits == ()


def test_a_live_summary_stays() -> None:
    talk = Conversation.of([user("go"), *work("a"), *work("b"), user("and"), *work("c"), user("on")])
    talk.summaries["s1"] = "They worked."
    talk.apply([Edit("condense", 1, 3, summary="s1", tokens=30, original_tokens=262)])
    assert after(talk, replace(GOALS, limit=400, target=100)) == "summary marker user"


def test_two_runs_around_a_summary_are_two_markers() -> None:
    talk = Conversation.of([user("go"), *work("a"), *work("b"), *work("c"), user("on")])
    talk.summaries["s1"] = "They worked."
    talk.apply([Edit("condense", 4, 5, summary="s1", tokens=30, original_tokens=259)])
    plan = truncated(talk, replace(GOALS, limit=400, target=100))
    assert [(edit.first, edit.last) for edit in plan.hides] == [(1, 3), (6, 7)]
    assert plan.tokens == talk.outline.edited(plan.edits).tokens


@pytest.mark.parametrize("share", [2, 3, 5, 8, 20])
def test_what_is_hidden_of_the_current_turn_is_cut_to_no_excerpt_beside(share: int) -> None:
    talk = Conversation.of([user("go"), *(m for name in "abcdefgh" for m in work(name, arguments=json.dumps([LONG])))])
    outline = talk.outline
    goals = replace(GOALS, limit=outline.tokens // share, target=outline.tokens // share)
    own = Stage("truncate", {"keep_first": 2, "fraction": 0.5})
    plan = truncate(outline, Plan(outline.tokens), Parameters(goals, is_asked=False, has_target=False, own=own))
    assert plan.hides
    assert plan.tokens == outline.edited(plan.edits).tokens
