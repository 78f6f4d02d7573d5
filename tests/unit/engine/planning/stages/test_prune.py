from dataclasses import replace
from typing import Any

from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.deduplicate import deduplicate
from foldline.engine.planning.stages.prune import prune
from foldline.engine.policies.policy import Stage, Value
from foldline.engine.tokens.counter import MESSAGE, RESULT
from foldline.engine.wording import placeholder_tokens
from tests.support.conversations import Conversation, answer, assistant, read_call
from tests.support.stages import cleared_by

LONG = "fold the line\n" * 60
GOALS = Goals(limit=2_000, trigger=1_600, target=0, keep_recent=300, summary_max=32, minimum_saving=0)


def work(name: str, text: str = LONG) -> list[Message]:
    return [assistant("", ToolCall(name, "ls", "{}")), answer(name, text)]


def pruned(*messages: Message, goals: Goals = GOALS, **own_parameters: Value) -> list[int]:
    return cleared_by(Stage("prune", own_parameters), messages, goals)


def test_old_results_are_cleared_and_recent_ones_stay() -> None:
    assert pruned(*work("a"), *work("b"), *work("c"), *work("d")) == [2, 4]


def test_clearing_stops_at_the_target_with_the_oldest_gone() -> None:
    messages = [*work("a"), *work("b"), *work("c"), *work("d")]
    tokens = Conversation.of(messages).outline.tokens
    assert pruned(*messages, goals=replace(GOALS, target=tokens - 1)) == [2]


def test_nothing_is_cleared_while_the_target_is_reached() -> None:
    assert pruned(*work("a"), *work("b"), goals=replace(GOALS, target=2_000)) == []


def test_small_results_stay() -> None:
    assert pruned(*work("a", "x " * 50), *work("b"), *work("c"), *work("d"), minimum_tokens=100) == [4]
    assert pruned(*work("a", "ok"), *work("b"), *work("c"), *work("d")) == [4]


def test_an_open_batch_stays_even_if_nothing_is_kept_recent() -> None:
    batch = assistant("", ToolCall("b", "ls", "{}"), ToolCall("c", "ls", "{}"))
    assert pruned(*work("a"), batch, answer("b", LONG), goals=replace(GOALS, keep_recent=0)) == [2]


def test_a_late_result_may_be_cleared_too() -> None:
    assert pruned(user("go"), answer("z", LONG), user("on"), *work("a"), *work("b")) == [2]


def test_the_read_that_a_pointer_points_to_stays() -> None:
    messages = [
        *(assistant("", read_call("a", "a.py")), answer("a", LONG)),
        *(assistant("", read_call("b", "a.py")), answer("b", LONG)),
        *(assistant("", read_call("c", "a.py", start_line=90, end_line=99)), answer("c", LONG)),
        *work("d"),
        *work("e"),
    ]
    outline = Conversation.of(messages).outline
    parameters = Parameters(GOALS, is_asked=False, has_target=False, own=Stage("prune"))
    pointed = deduplicate(outline, Plan(outline.tokens), replace(parameters, own=Stage("deduplicate")))
    plan = prune(outline, pointed, parameters)
    assert {seq: edit.kind for seq, edit in plan.cells.items()} == {2: "supersede", 6: "clear"}


def test_the_newest_results_are_protected_up_to_the_one_that_crosses_the_line() -> None:
    messages = [*work("a"), *work("b"), *work("c"), *work("d")]
    one = Conversation.of(messages).facts[1].tokens - MESSAGE - RESULT
    parameters: dict[str, Any] = {"keep_recent_tokens": 0, "stops_at_target": False}
    assert pruned(*messages, **parameters) == [2, 4, 6, 8]
    assert pruned(*messages, protect_tokens=one, **parameters) == [2, 4, 6]
    assert pruned(*messages, protect_tokens=one + 1, **parameters) == [2, 4]


def test_results_of_protected_tools_stay_and_protect_no_others() -> None:
    skill = [assistant("", ToolCall("s", "Skill", "{}")), answer("s", LONG)]
    messages = [*skill, *work("a"), *work("b"), *skill]
    parameters: dict[str, Any] = {"keep_recent_tokens": 0, "stops_at_target": False, "protect_tokens": 1}
    assert pruned(*messages, protected_tools=("skill",), **parameters) == [4]


def test_nothing_is_cleared_where_all_together_save_too_little() -> None:
    messages = [*work("a"), *work("b"), *work("c"), *work("d")]
    saving = 2 * (Conversation.of(messages).facts[1].tokens - placeholder_tokens("ls")[0] - MESSAGE - RESULT)
    assert pruned(*messages, minimum_saving_tokens=saving) == [2, 4]
    assert pruned(*messages, minimum_saving_tokens=saving + 1) == []


def test_what_must_be_saved_in_all_is_saved_though_the_target_is_near() -> None:
    messages = [*work("a"), *work("b"), *work("c"), *work("d")]
    outline = Conversation.of(messages).outline
    near = replace(GOALS, target=outline.tokens - 1)
    one = Conversation.of(messages).facts[1].tokens - placeholder_tokens("ls")[0] - MESSAGE - RESULT
    assert pruned(*messages, goals=near, minimum_saving_tokens=one) == [2]
    assert pruned(*messages, goals=near, minimum_saving_tokens=one + 1) == [2, 4]


def test_a_very_long_result_is_cut_to_an_excerpt_first_even_the_newest() -> None:
    outline = Conversation.of([*work("a"), *work("b", LONG * 10)]).outline
    own = Stage("prune", {"excerpt_over_chars": 5_000, "protect_tokens": 100_000})
    parameters = Parameters(replace(GOALS, target=outline.tokens - 1), is_asked=True, has_target=False, own=own)
    plan = prune(outline, Plan(outline.tokens), parameters)
    assert [(edit.kind, edit.first, edit.level) for edit in plan.edits] == [("excerpt", 4, 1)]
    assert plan.tokens == outline.edited(plan.edits).tokens < outline.tokens
