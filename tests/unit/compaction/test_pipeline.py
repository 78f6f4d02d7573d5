from compaction.budget import Goals
from compaction.messages import Message, ToolCall, user
from compaction.pipeline import make_plan
from compaction.plan import Plan
from compaction.presets import PRESETS
from tests.support.conversations import Conversation, answer, assistant, read_call
from tests.support.layouts import layout

STAGES = PRESETS["foldline"].stages
LONG = "fold the line\n" * 60
LAYOUT = """\
01 user                  9
02 assistant             21
03 tool       supersede  248 → 23
04 user                  6
05 assistant             21
06 tool                  248
07 user                  7
08 assistant             14
09 tool       clear      248 → 23
10 assistant             6
11 user                  255
12 assistant             14
13 tool                  9
14 assistant             6"""


def goals(limit: int) -> Goals:
    return Goals(
        limit=limit,
        trigger=int(limit * 0.8),
        target=int(limit * 0.5),
        keep_recent=int(limit * 0.3),
        summary_max=limit // 10,
        minimum_saving=int(limit * 0.05),
    )


def work(name: str, text: str = LONG) -> list[Message]:
    return [assistant("", ToolCall(name, "ls", "{}")), answer(name, text)]


def plan_for(talk: Conversation, limit: int, *, is_asked: bool = False, has_target: bool = False) -> Plan:
    return make_plan(talk.outline, STAGES, goals(limit), is_asked=is_asked, has_target=has_target)


def test_nothing_is_planned_under_the_trigger() -> None:
    talk = Conversation.of([*work("a"), *work("b")])
    assert plan_for(talk, 10_000) == Plan(talk.outline.tokens)


def test_cheap_edits_that_reach_the_target_are_all() -> None:
    talk = Conversation.of([user("go"), *(message for name in "abcd" for message in work(name)), user("on")])
    plan = plan_for(talk, 1_250)
    assert plan.stages_used == ("prune",)
    assert plan.tokens <= goals(1_250).target
    assert not plan.is_summary_wanted


def test_a_summary_is_wanted_where_cheap_edits_do_not_reach_the_target() -> None:
    talk = Conversation.of([assistant("word " * 100) for _ in range(9)])
    plan = plan_for(talk, 1_100)
    assert plan.edits == ()
    assert plan.is_summary_wanted


def test_an_automatic_plan_that_saves_too_little_is_empty_but_may_want_a_summary() -> None:
    talk = Conversation.of([*work("a", "x " * 120), *(assistant("word " * 500) for _ in range(9)), user("on")])
    limit = talk.outline.tokens + 100
    plan = plan_for(talk, limit)
    assert plan.edits == ()
    assert plan.is_summary_wanted
    assert plan_for(talk, limit, is_asked=True).stages_used == ("prune",)


def test_a_plan_that_saves_little_is_kept_if_the_view_would_not_fit() -> None:
    talk = Conversation.of([*work("a", "x " * 120), *(assistant("word " * 500) for _ in range(9)), user("on")])
    assert plan_for(talk, talk.outline.tokens - 1).edits


def test_the_layout_of_a_long_session() -> None:
    talk = Conversation.of(
        [
            *(user("Look at a.py."), assistant("", read_call("a", "a.py")), answer("a", LONG)),
            *(user("Again."), assistant("", read_call("b", "a.py")), answer("b", LONG)),
            *(user("List it."), *work("c"), assistant("There.")),
            *(user("word " * 250), *work("d", "ok"), assistant("Done.")),
        ]
    )
    assert layout(talk.outline, plan_for(talk, 900)) == LAYOUT


def test_a_view_is_made_to_fit_also_where_truncate_is_no_stage() -> None:
    talk = Conversation.of([assistant("word " * 500) for _ in range(9)])
    for stages in ([], [stage for stage in STAGES if stage.name != "truncate"]):
        assert make_plan(talk.outline, stages, goals(1_100)).tokens <= 1_100
        assert make_plan(talk.outline, stages, goals(10_000), is_asked=True).edits == ()
