from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline
from foldline.engine.planning.pipeline import Planned, make_plan, plan_for
from foldline.engine.planning.plan import Plan
from foldline.engine.policies.policy import stage_of
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.measures import exact_measure, measure_of
from tests.support.conversations import Conversation, answer, assistant, read_call
from tests.support.layouts import layout

STAGES = PRESETS["foldline"].stages
LONG = "fold the line\n" * 60
# Hardly any tokens, but many by the length of the text.
BLANK = " " * 1_000
LAYOUT = """\
01 user                  9
02 assistant             21
03 tool       supersede  248 → 24
04 user                  6
05 assistant             21
06 tool                  248
07 user                  7
08 assistant             14
09 tool       clear      248 → 24
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


def planned(talk: Conversation, limit: int, *, is_asked: bool = False, has_target: bool = False) -> Plan:
    return make_plan(talk.outline, STAGES, goals(limit), is_asked=is_asked, has_target=has_target)


def test_nothing_is_planned_under_the_trigger() -> None:
    talk = Conversation.of([*work("a"), *work("b")])
    assert planned(talk, 10_000) == Plan(talk.outline.tokens)


def test_cheap_edits_that_reach_the_target_are_all() -> None:
    talk = Conversation.of([user("go"), *(message for name in "abcd" for message in work(name)), user("on")])
    plan = planned(talk, 1_250)
    assert plan.stages_used == ("prune",)
    assert plan.tokens <= goals(1_250).target
    assert not plan.is_summary_wanted


def test_a_summary_is_wanted_where_cheap_edits_do_not_reach_the_target() -> None:
    talk = Conversation.of([assistant("word " * 100) for _ in range(9)])
    plan = planned(talk, 1_100)
    assert plan.edits == ()
    assert plan.is_summary_wanted


def test_an_automatic_plan_that_saves_too_little_is_empty_but_may_want_a_summary() -> None:
    talk = Conversation.of([*work("a", "x " * 120), *(assistant("word " * 500) for _ in range(9)), user("on")])
    limit = talk.outline.tokens + 100
    plan = planned(talk, limit)
    assert plan.edits == ()
    assert plan.is_summary_wanted
    assert planned(talk, limit, is_asked=True).stages_used == ("prune",)


def test_a_plan_that_saves_little_is_kept_if_the_view_would_not_fit() -> None:
    talk = Conversation.of([*work("a", "x " * 120), *(assistant("word " * 500) for _ in range(9)), user("on")])
    assert planned(talk, talk.outline.tokens - 1).edits


def test_the_layout_of_a_long_session() -> None:
    talk = Conversation.of(
        [
            *(user("Look at a.py."), assistant("", read_call("a", "a.py")), answer("a", LONG)),
            *(user("Again."), assistant("", read_call("b", "a.py")), answer("b", LONG)),
            *(user("List it."), *work("c"), assistant("There.")),
            *(user("word " * 250), *work("d", "ok"), assistant("Done.")),
        ]
    )
    assert layout(talk.outline, planned(talk, 900)) == LAYOUT


def test_a_view_is_made_to_fit_also_where_truncate_is_no_stage() -> None:
    talk = Conversation.of([assistant("word " * 500) for _ in range(9)])
    for stages in ([], [stage for stage in STAGES if stage.name != "truncate"]):
        assert make_plan(talk.outline, stages, goals(1_100)).tokens <= 1_100
        assert make_plan(talk.outline, stages, goals(10_000), is_asked=True).edits == ()


def seen(
    talk: Conversation, *stages: str | Mapping[str, Any], exact: Goals, estimated: Goals, has_target: bool = False
) -> Planned:
    """What is planned by the estimate `chars4`, asked for where a target is given."""
    gauge = Gauge(measure_of("chars4"), estimated)
    gauge = gauge.aimed(exact, talk.outline) if has_target else gauge
    own = [stage_of(stage, "stages") for stage in stages]
    return plan_for(talk.outline, own, exact, gauge, is_asked=has_target, has_target=has_target)


def estimate(talk: Conversation) -> int:
    return talk.outline.measured(measure_of("chars4")).tokens


def worked(names: str) -> Conversation:
    return Conversation.of([user("go"), *(message for name in names for message in work(name)), user("on")])


WIDE = goals(1_000_000)


def test_a_policy_that_counts_exactly_plans_what_its_stages_do() -> None:
    talk = worked("abcd")
    plan = planned(talk, 1_250)
    same = plan_for(talk.outline, STAGES, goals(1_250), Gauge(exact_measure(), goals(1_250)))
    assert same == Planned(talk.outline.edited(plan.edits), plan.edits, plan.stages_used)


def test_the_policys_own_count_decides_when_and_how_far() -> None:
    talk = worked("abcd")
    tokens = estimate(talk)
    assert seen(talk, "prune", exact=WIDE, estimated=replace(WIDE, trigger=tokens)).edits == ()
    above = replace(WIDE, trigger=tokens - 1, target=tokens - 1, keep_recent=0, minimum_saving=0)
    assert seen(talk, "prune", exact=WIDE, estimated=above).edits == (Edit("clear", 3, 3),)
    assert seen(talk, "prune", exact=replace(WIDE, trigger=1, target=1), estimated=WIDE).edits == ()


def test_a_summary_is_wanted_by_the_policys_own_count() -> None:
    talk = Conversation.of([user("go"), assistant("word " * 100)])
    tokens = estimate(talk)
    above = replace(WIDE, trigger=tokens - 1, target=tokens - 1)
    assert seen(talk, "summarize", exact=WIDE, estimated=above) == Planned(talk.outline, is_summary_wanted=True)
    assert seen(talk, "summarize", exact=WIDE, estimated=replace(above, target=tokens)) == Planned(talk.outline)


def test_the_exact_count_decides_what_fits() -> None:
    talk = worked("abcdefgh")
    done = seen(talk, "prune", exact=goals(600), estimated=WIDE)
    assert done.stages_used == ("truncate",)
    assert done.outline.tokens <= 600
    assert done.outline.tokens == talk.outline.edited(done.edits).tokens


def test_what_fits_by_estimate_only_is_made_to_fit_after_the_stages() -> None:
    talk = worked("abcdefgh")
    near = replace(goals(10_000), trigger=0, target=estimate(talk) - 1, keep_recent=0, minimum_saving=0)
    done = seen(talk, "prune", exact=goals(300), estimated=near)
    assert done.stages_used == ("prune", "truncate")
    assert done.edits[0] == Edit("clear", 3, 3)
    assert done.outline.tokens <= 300


def test_stages_go_as_far_as_the_exact_count_needs_where_the_estimate_has_reached_its_target() -> None:
    talk = worked("abcdefgh")
    wide = replace(WIDE, keep_recent=0, minimum_saving=0)
    done = seen(talk, "prune", exact=goals(600), estimated=wide)
    assert done.stages_used == ("prune",)
    assert 300 < done.outline.tokens <= 600


def test_a_view_that_does_not_fit_loses_at_once_what_a_summary_would_cover_and_no_more() -> None:
    talk = Conversation.of([*(assistant(LONG) for _ in range(6)), user("on"), *work("a"), *work("b"), *work("c")])
    exact = replace(goals(talk.outline.tokens - 1), target=10)
    keeping = {"name": "summarize", "keep_messages": 4, "keep_tokens": 0}
    due = (Edit("hide", 1, 6), Edit("hide", 8, 9))
    assert seen(talk, keeping, "collapse", exact=exact, estimated=WIDE).edits == due
    assert seen(talk, keeping, "truncate", exact=exact, estimated=WIDE).edits == due
    # Without a summary, nothing is due.
    assert seen(talk, "truncate", exact=exact, estimated=WIDE).edits != due


def test_what_is_due_stays_where_the_other_stages_made_room_by_the_policys_own_count() -> None:
    talk = Conversation.of([*work("a"), *(assistant(LONG) for _ in range(4)), user("on")])
    cleared = talk.outline.edited([Edit("clear", 2, 2)]).tokens
    exact = replace(goals(talk.outline.tokens - 1), trigger=cleared - 1, target=cleared, keep_recent=0)
    keeping = {"name": "summarize", "keep_messages": 1, "keep_tokens": 0}
    wide = replace(WIDE, keep_recent=0, minimum_saving=0)
    assert seen(talk, "prune", keeping, exact=exact, estimated=wide).edits == (Edit("clear", 2, 2),)
    low = replace(wide, trigger=1, target=1)
    assert seen(talk, "prune", keeping, exact=exact, estimated=low).edits == (Edit("clear", 2, 2), Edit("hide", 1, 6))


def test_where_what_is_due_is_hidden_and_the_view_does_not_fit_more_goes_only_down_to_the_trigger() -> None:
    talk = Conversation.of([*(assistant(LONG) for _ in range(12)), user("on"), assistant("done")])
    without_two = talk.outline.edited([Edit("hide", 1, 2)]).tokens
    exact = replace(goals(without_two - 1), trigger=talk.outline.edited([Edit("hide", 1, 5)]).tokens, target=10)
    keeping = {"name": "summarize", "keep_messages": 12, "keep_tokens": 0}
    for last in ("truncate", {"name": "truncate", "keep_first": 2, "fraction": 0.9}, "collapse"):
        done = seen(talk, keeping, last, exact=exact, estimated=WIDE)
        assert done.outline.live.hidden == ((1, 5),)


def test_a_view_that_did_not_fit_and_is_over_the_trigger_still_loses_what_is_due_too() -> None:
    talk = Conversation.of([*work("a"), *(assistant(LONG) for _ in range(4)), user("on")])
    cleared = talk.outline.edited([Edit("clear", 2, 2)]).tokens
    limits = replace(goals(talk.outline.tokens - 1), keep_recent=0)
    for trigger, edits in ((cleared, [Edit("clear", 2, 2)]), (cleared - 1, [Edit("clear", 2, 2), Edit("hide", 1, 6)])):
        exact = replace(limits, trigger=trigger, target=cleared)
        own = [stage_of(name, "stages") for name in ("prune", "summarize")]
        done = plan_for(talk.outline, own, exact, Gauge(exact_measure(), exact))
        assert list(done.edits) == edits


def test_what_a_provider_counted_is_less_after_the_edits_of_the_other_stages() -> None:
    talk = Conversation.of([*work("a"), *(assistant(LONG) for _ in range(4)), user("on")])
    exact = replace(goals(talk.outline.tokens - 1), trigger=1, target=1, keep_recent=0)
    own = [stage_of(name, "stages") for name in ("prune", "summarize")]
    before, after = (at.measured(measure_of("chars4")).tokens for at in (talk.outline, cleared_result(talk)))
    # The provider counts 300 tokens less than the estimate, before and after.
    for trigger, edits in ((after - 300, 1), (after - 301, 2)):
        gauge = Gauge(measure_of("chars4"), replace(WIDE, trigger=trigger, minimum_saving=0, keep_recent=0))
        reported = replace(gauge, reported=before - 300)
        assert len(plan_for(talk.outline, own, exact, reported).edits) == edits


def cleared_result(talk: Conversation) -> Outline:
    return talk.outline.edited([Edit("clear", 2, 2)])


def blanks() -> Conversation:
    """Turns that are long and take hardly any tokens, one with a result that takes many."""
    return Conversation.of([user("go"), *work("a"), user(BLANK), user(BLANK), user("on")])


def test_what_fits_is_not_hidden_whatever_the_estimate_says_and_other_edits_stay() -> None:
    talk = blanks()
    down = replace(WIDE, trigger=0, target=0, keep_recent=0, minimum_saving=0)
    assert seen(talk, "collapse", exact=WIDE, estimated=down) == Planned(talk.outline)
    both = seen(talk, "prune", "collapse", exact=WIDE, estimated=down)
    assert both.edits == (Edit("clear", 3, 3),)
    assert both.outline.tokens == talk.outline.edited(both.edits).tokens


def test_a_stage_that_hides_nothing_is_not_named() -> None:
    down = replace(WIDE, trigger=0, target=0, keep_recent=0, minimum_saving=0)
    assert seen(blanks(), "prune", "collapse", exact=WIDE, estimated=down).stages_used == ("prune",)


def test_stages_hide_what_the_exact_count_demands() -> None:
    talk = Conversation.of([user("go"), user(LONG), assistant(BLANK), user("on")])
    down = replace(WIDE, trigger=0, target=0, minimum_saving=0)
    assert seen(talk, "collapse", exact=WIDE, estimated=down) == Planned(talk.outline)
    full = replace(WIDE, limit=talk.outline.tokens - 1, target=0)
    assert seen(talk, "collapse", exact=full, estimated=down).edits == (Edit("hide", 2, 3),)
    assert seen(talk, "collapse", exact=full, estimated=WIDE).edits == (Edit("hide", 2, 3),)


def test_what_is_smaller_by_estimate_only_is_not_done() -> None:
    talk = Conversation.of([user("go"), *work("a", BLANK), user("on")])
    down = replace(WIDE, trigger=0, target=0, keep_recent=0, minimum_saving=0)
    done = seen(talk, "prune", "summarize", exact=WIDE, estimated=down)
    assert done == Planned(talk.outline, is_summary_wanted=True)


def test_a_target_of_ones_own_is_in_exact_tokens() -> None:
    talk = worked("abcdefgh")
    for target in (200, 700, 1_500):
        exact = WIDE.aiming_at(target)
        assert seen(talk, "truncate", exact=exact, estimated=WIDE, has_target=True).outline.tokens <= target
        assert seen(talk, exact=exact, estimated=WIDE, has_target=True) == Planned(talk.outline)


def test_a_target_of_ones_own_that_the_estimate_has_reached_is_gone_down_to() -> None:
    blank, text = assistant(BLANK * 20), assistant(LONG)
    talk = Conversation.of([user("go"), *[blank] * 6, *[text] * 4, user("on")])
    target = talk.outline.tokens // 2
    done = seen(talk, "truncate", exact=WIDE.aiming_at(target), estimated=WIDE, has_target=True)
    assert done.stages_used == ("truncate",)
    assert done.outline.tokens == talk.outline.edited(done.edits).tokens <= target


def test_a_target_of_ones_own_is_aimed_at_in_proportion_by_the_policys_count() -> None:
    talk = worked("abcdefgh")
    down = replace(WIDE, target=0, keep_recent=0)
    half = seen(talk, "prune", exact=WIDE.aiming_at(talk.outline.tokens // 2), estimated=down, has_target=True)
    assert len(half.edits) == 5
    near = seen(talk, "prune", exact=WIDE.aiming_at(talk.outline.tokens - 1), estimated=down, has_target=True)
    assert len(near.edits) == 1
