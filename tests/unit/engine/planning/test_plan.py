import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import ToolCall, user
from foldline.engine.planning.plan import Plan
from foldline.engine.tokens.measures import exact_measure
from foldline.engine.wording import marker_tokens
from tests.support.conversations import Conversation, answer, assistant

TALK = Conversation.of([user(f"message {number} " * 20) for number in range(6)])


def plan_hiding(start: int, stop: int) -> Plan:
    return Plan(TALK.outline.tokens).hiding("truncate", TALK.outline, start, stop)


def tokens_of(first: int, last: int) -> int:
    return sum(entry.tokens for entry in TALK.facts[first:last])


def test_neighbouring_items_are_hidden_by_one_edit() -> None:
    assert plan_hiding(0, 3).hides == (Edit("hide", 1, 3),)


def test_each_run_of_hidden_items_costs_one_marker() -> None:
    plan = plan_hiding(0, 2).hiding("truncate", TALK.outline, 4, 5)
    assert plan.tokens == TALK.outline.tokens - tokens_of(0, 2) - tokens_of(4, 5) + 2 * marker_tokens()


def test_hiding_more_from_the_same_place_costs_what_hiding_it_at_once_costs() -> None:
    stepwise = plan_hiding(0, 2).hiding("truncate", TALK.outline, 0, 4)
    assert stepwise.tokens == plan_hiding(0, 4).tokens
    assert stepwise.hidden == ((0, 4),)


@pytest.mark.parametrize(
    ("start", "stop", "hidden"),
    [
        (0, 1, {(0, 2), (4, 5)}),
        (1, 2, {(1, 2), (4, 5)}),
        (2, 3, {(1, 3), (4, 5)}),
        (2, 4, {(1, 5)}),
        (0, 6, {(0, 6)}),
        (0, 5, {(0, 5)}),
    ],
)
def test_hiding_more_joins_what_it_overlaps_or_touches(start: int, stop: int, hidden: set[tuple[int, int]]) -> None:
    plan = plan_hiding(1, 2).hiding("collapse", TALK.outline, 4, 5)
    more = plan.hiding("truncate", TALK.outline, start, stop)
    assert {*more.hidden} == hidden
    assert plan.tokens_hiding(TALK.outline, start)(stop) == more.tokens == TALK.outline.edited(more.edits).tokens


@pytest.mark.parametrize("stop", range(3, 7))
def test_what_hiding_would_take_is_what_it_takes(stop: int) -> None:
    outline = TALK.outline.edited([Edit("hide", 2, 2)])
    plan = Plan(outline.tokens).hiding("collapse", outline, 2, 3)
    further = plan.hiding("truncate", outline, 0, stop)
    assert plan.tokens_hiding(outline, 0)(stop) == further.tokens == outline.edited(further.edits).tokens


def test_what_was_saved_in_units_that_are_hidden_is_not_saved_twice() -> None:
    work = [assistant("", ToolCall("a", "ls", "{}")), answer("a", "fold the line " * 90)]
    outline = Conversation.of([user("go"), *work, user("on " * 90), user("so?")]).outline
    clear = Edit("clear", 3, 3)
    saving = exact_measure().shown(outline.results[0][1], None) - exact_measure().shown(outline.results[0][1], clear)
    plan = Plan(outline.tokens).adding("prune", {3: clear}, {1: saving}).hiding("collapse", outline, 1, 2)
    further = plan.hiding("truncate", outline, 0, 3)
    assert plan.tokens == outline.edited(plan.edits).tokens
    assert further.tokens == outline.edited(further.edits).tokens


def test_hiding_around_a_live_summary_leaves_it_in_view() -> None:
    outline = TALK.outline.edited([Edit("condense", 3, 3, summary="s1", tokens=30, original_tokens=90)])
    plan = Plan(outline.tokens).hiding("collapse", outline, 1, 2).hiding("truncate", outline, 0, 5)
    assert plan.hides == (Edit("hide", 2, 2), Edit("hide", 1, 2), Edit("hide", 4, 5))
    assert plan.tokens == outline.edited(plan.edits).tokens


def test_a_run_that_touches_a_hidden_one_joins_it() -> None:
    hidden = TALK.outline.edited(plan_hiding(2, 4).edits)
    before = Plan(hidden.tokens).hiding("truncate", hidden, 0, 2)
    after = Plan(hidden.tokens).hiding("truncate", hidden, 4, 5)
    assert before.tokens == hidden.tokens - tokens_of(0, 2) == hidden.edited(before.edits).tokens
    assert after.tokens == hidden.tokens - tokens_of(4, 5) == hidden.edited(after.edits).tokens


def test_a_stage_that_edits_nothing_is_not_named() -> None:
    plan = Plan(100)
    assert plan.adding("prune", {}, {}) is plan


def test_stages_are_named_once_in_the_order_they_edited() -> None:
    plan = (
        Plan(100)
        .adding("prune", {1: Edit("clear", 1, 1)}, {0: 10})
        .adding("truncate", {2: Edit("clear", 2, 2)}, {0: 5})
    )
    plan = plan.adding("prune", {3: Edit("clear", 3, 3)}, {1: 5})
    assert plan.stages_used == ("prune", "truncate")
    assert plan.tokens == 80
    assert dict(plan.savings) == {0: 15, 1: 5}


def test_the_recent_items_are_those_with_too_little_after_them() -> None:
    outline, plan = TALK.outline, Plan(TALK.outline.tokens)
    each = TALK.facts[-1].tokens
    assert plan.older_than(outline, each) == 5
    assert plan.older_than(outline, each + 1) == 4
    assert plan.older_than(outline, 10_000) == 0
