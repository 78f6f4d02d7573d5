"""The engine's invariants over generated sessions, for every preset."""

from __future__ import annotations

import json

import regex
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine import edits as edits_module
from foldline.engine import facts as facts_module
from foldline.engine import wording
from foldline.engine.edits import Edit
from foldline.engine.facts import Facts, facts_of
from foldline.engine.formats import FORMATS, rules
from foldline.engine.messages import Message
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.outline import Outline, Summarized, Unit
from foldline.engine.planning.pipeline import make_plan
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_messages
from foldline.engine.tokens.excerpts import LEVELS, boundary, excerpt, excerpt_arguments
from foldline.engine.view import make_view
from tests.support.conversations import Case, Conversation, cases, texts, transcripts, units

CASES = cases(PRESETS.values())
SMALLEST = SMALLEST_SUMMARY + wording.summary_frame_tokens()
WINDOWS = st.sampled_from((64, 1_000, 100_000))


# ---- one count ---------------------------------------------------------------------------------------------------


@given(CASES)
def test_an_outline_counts_what_the_view_takes(case: Case) -> None:
    assert case.conversation.outline.tokens == case.conversation.view_tokens


@given(transcripts())
def test_appends_add_up_to_the_outline_and_the_stubs_of_what_is_open(messages: list[Message]) -> None:
    conversation = Conversation.of(messages)
    assert conversation.added_tokens == conversation.outline.tokens
    open_calls = len(conversation.tail.open_calls)
    stubbed = count_messages(conversation.view(stub_open=True))
    assert stubbed == conversation.outline.tokens + wording.stub_tokens() * open_calls


@given(CASES)
def test_a_plan_predicts_the_view_it_leads_to(case: Case) -> None:
    conversation, (policy, _, gauge) = case.conversation, case.aims
    seen = conversation.outline.measured(gauge.measure)
    guess = make_plan(seen, policy.stages, gauge.goals, is_asked=case.is_asked, has_target=case.has_target)
    assert guess.tokens == seen.edited(guess.edits).tokens
    plan = case.plan()
    conversation.apply(plan.edits)
    assert plan.outline.tokens == conversation.outline.tokens == conversation.view_tokens


@given(CASES, st.lists(texts(80), min_size=1, max_size=3))
def test_pins_cost_what_their_block_takes(case: Case, pins: list[str]) -> None:
    conversation = case.conversation
    view = make_view(conversation.outline, conversation.messages, conversation.summaries, pins)
    assert count_messages(view) == conversation.outline.tokens + wording.pins_tokens(pins)
    assert all(pin in view[0].text for pin in pins)


# ---- what a plan promises ----------------------------------------------------------------------------------------


@given(CASES)
def test_a_view_fits_after_a_plan_unless_what_may_not_be_edited_is_too_much(case: Case) -> None:
    plan = case.plan()
    after = case.conversation.outline.edited(plan.edits)
    assert after.tokens <= max(case.goals.limit, _uneditable_tokens(after))


def _uneditable_tokens(outline: Outline) -> int:
    """Tokens of the last user message, open calls, summaries, markers, and units too small to be worth a summary."""
    last_user = outline.items[outline.last_user] if outline.last_user >= 0 else None
    kept = [item for item in outline.items if item is last_user or isinstance(item, Summarized) or item.is_open]
    markers = wording.marker_tokens() * (len(kept) + 2)
    shown = sum(item.edit.tokens if isinstance(item, Summarized) else item.tokens for item in kept)
    return shown + markers + 2 * SMALLEST


@given(CASES)
def test_a_plan_never_raises_the_view(case: Case) -> None:
    before = case.conversation.outline.tokens
    plan = case.plan()
    assert plan.outline.tokens < before if plan.edits else plan.outline.tokens == before


@given(CASES)
def test_a_plan_leaves_the_last_user_message_and_open_batches_alone(case: Case) -> None:
    outline = case.conversation.outline
    kept = units(outline, lambda unit: unit.is_open or outline.items.index(unit) == outline.last_user)
    for edit in case.plan().edits:
        assert not any(_overlap(edit.first, edit.last, unit) for unit in kept)


def _overlap(first: int, last: int, unit: Unit) -> bool:
    return first <= unit.last and unit.first <= last


@given(CASES)
def test_compacting_again_changes_nothing(case: Case) -> None:
    case.conversation.apply(case.plan().edits)
    assert case.plan().edits == ()


@given(CASES)
def test_edits_address_whole_units_and_single_results(case: Case) -> None:
    outline = case.conversation.outline
    starts, ends = {item.first for item in outline.items}, {item.last for item in outline.items}
    by_seq = {entry.seq: entry for entry in case.conversation.facts}
    for edit in case.plan().edits:
        if edit.kind == "hide":
            assert edit.first in starts
            assert edit.last in ends
        else:
            assert edit.first == edit.last
            is_result = by_seq[edit.first].answers is not None
            assert is_result or (edit.kind == "excerpt" and by_seq[edit.first].arguments_saving > 0)


@given(CASES)
def test_nothing_is_planned_under_the_trigger_unless_someone_asks(case: Case) -> None:
    outline, gauge = case.conversation.outline, case.aims.gauge
    plan = case.conversation.plan(case.aims)
    seen = outline.measured(gauge.measure).tokens
    if outline.tokens <= case.goals.limit and seen <= min(gauge.goals.trigger, gauge.goals.limit):
        assert plan.edits == ()
        assert not plan.is_summary_wanted


@given(CASES)
def test_the_prefix_stays_while_nothing_is_compacted(case: Case) -> None:
    conversation = case.conversation
    before = conversation.view(stub_open=True)
    conversation.extend([Message("user", ()), Message("assistant", ())])
    after = conversation.view()
    assert after[: len(before)] == before


# ---- deduplication and pruning -----------------------------------------------------------------------------------


@given(CASES)
def test_a_new_pointer_has_a_later_covering_read_in_view_unless_the_view_had_to_be_truncated(case: Case) -> None:
    plan = case.plan()
    if "truncate" in plan.stages_used:
        return
    after = case.conversation.outline.edited(plan.edits)
    for edit in plan.edits:
        if edit.kind == "supersede":
            read = next(entry for _, entry in after.results if entry.seq == edit.first)
            assert any(_covers(later, read, after) for _, later in after.results)


def _covers(later: Facts, read: Facts, outline: Outline) -> bool:
    is_shown = later.seq not in outline.live.cells and not later.is_failure
    return is_shown and later.seq > read.seq and bool(later.read and read.read and later.read.covers(read.read))


# ---- ranges for summaries ----------------------------------------------------------------------------------------


@given(CASES, WINDOWS)
def test_a_range_covers_whole_units_and_neither_the_last_user_message_nor_open_calls(case: Case, window: int) -> None:
    outline = case.conversation.outline
    span = case.conversation.next_range(case.aims, window, is_asked=case.is_asked)
    if span is None:
        return
    inside = [item for item in outline.items if span.first <= item.first and item.last <= span.last]
    assert inside[0].first == span.first
    assert inside[-1].last == span.last
    assert all(item in inside or item.last < span.first or item.first > span.last for item in outline.items)
    assert not any(isinstance(item, Unit) and item.is_open for item in inside)
    assert outline.last_user < 0 or outline.items[outline.last_user] not in inside
    assert span.replaces == tuple(item.edit.summary for item in inside if isinstance(item, Summarized))


@given(CASES, WINDOWS)
def test_a_summary_is_smaller_than_the_originals_it_covers(case: Case, window: int) -> None:
    span = case.conversation.next_range(case.aims, window, is_asked=case.is_asked)
    if span is not None:
        assert span.max_tokens >= SMALLEST_SUMMARY
        assert span.max_tokens + wording.summary_frame_tokens() < span.original_tokens


@given(CASES, WINDOWS)
def test_what_is_hidden_can_always_be_summarized(case: Case, window: int) -> None:
    case.conversation.apply(case.plan().edits)
    case.conversation.condense_all(case.aims, window, is_asked=False)
    assert case.conversation.outline.pending_tokens == 0


@given(CASES, WINDOWS)
def test_summaries_end(case: Case, window: int) -> None:
    case.conversation.condense_all(case.aims, window, is_asked=True)
    assert case.conversation.next_range(case.aims, window, is_asked=True) is None
    assert case.conversation.outline.tokens == case.conversation.view_tokens


# ---- valid in every format ---------------------------------------------------------------------------------------


@given(CASES, st.sampled_from(sorted(FORMATS)))
def test_every_view_obeys_the_rules_of_every_format(case: Case, name: str) -> None:
    case.conversation.apply(case.plan().edits)
    rendered = FORMATS[name].render(case.conversation.view(stub_open=True), "Be brief.")
    assert rules.check(name, rendered.messages, rendered.system) == []


@given(CASES)
def test_every_call_in_view_is_followed_by_its_results(case: Case) -> None:
    case.conversation.apply(case.plan().edits)
    waiting: list[str] = []
    for message in case.conversation.view(stub_open=True):
        if message.result is not None:
            assert message.result.call_id in waiting
            waiting.remove(message.result.call_id)
        else:
            assert waiting == []
            waiting = [call.id for call in message.calls]
            assert len(set(waiting)) == len(waiting)
    assert waiting == []


# ---- cuts in text ------------------------------------------------------------------------------------------------


@given(texts(1_000), st.integers(-5, 1_005))
def test_a_boundary_never_splits_a_grapheme(text: str, index: int) -> None:
    at = boundary(text, index)
    ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert at in ends
    assert at <= max(0, index)


@given(texts(4_000), st.sampled_from(LEVELS))
def test_an_excerpt_is_a_head_and_a_tail_of_the_text(text: str, chars: int) -> None:
    shorter = excerpt(text, chars)
    if shorter != text:
        head, tail = regex.split(r"\n\[… [\d,]+ characters left out …\]\n", shorter)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert abs(len(head) + len(tail) - chars) <= 64


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts(900),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(40), inner, max_size=3),
    max_leaves=6,
)


@given(JSON_VALUES, st.sampled_from((None, 2)))
def test_excerpts_of_arguments_stay_json_and_touch_long_strings_only(value: object, indent: int | None) -> None:
    arguments = json.dumps(value, indent=indent, ensure_ascii=indent is None)
    shorter = excerpt_arguments(arguments)
    assert len(shorter) <= len(arguments)
    if shorter != arguments:
        assert json.loads(shorter) == _with_short_strings(json.loads(arguments))


def _with_short_strings(value: object) -> object:
    match value:
        case str():
            return excerpt(value, LEVELS[0])
        case list():
            return [_with_short_strings(item) for item in value]
        case dict():
            return {key: _with_short_strings(item) for key, item in value.items()}
    return value


# ---- kept forms --------------------------------------------------------------------------------------------------


@given(transcripts(6))
def test_facts_survive_their_json(messages: list[Message]) -> None:
    for facts in Conversation.of(messages).facts:
        columns = Facts(facts.role, facts.tokens, facts.seq, facts.unit, facts.is_late)
        assert facts_module.from_json(columns, json.loads(json.dumps(facts_module.to_json(facts)))) == facts


@given(transcripts(3))
def test_facts_of_a_message_are_always_the_same(messages: list[Message]) -> None:
    assert [facts_of(message) for message in messages] == [facts_of(message) for message in messages]


@given(CASES, st.lists(st.tuples(st.integers(1, 9), st.integers(9, 20)), max_size=2))
def test_live_edits_survive_their_json(case: Case, barred: list[tuple[int, int]]) -> None:
    live = case.conversation.live.adding(case.plan().edits).barring(barred)
    assert edits_module.from_json(json.loads(json.dumps(edits_module.to_json(live)))) == live


@given(CASES)
def test_edits_in_one_step_or_one_by_one_are_the_same(case: Case) -> None:
    live = case.conversation.live
    edits: tuple[Edit, ...] = case.plan().edits
    one_by_one = live
    for edit in edits:
        one_by_one = one_by_one.adding([edit])
    assert one_by_one == live.adding(edits)
