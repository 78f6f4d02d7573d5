from dataclasses import replace

import pytest

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import Details, Facts, facts_of
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.budget import SMALLEST_SUMMARY, Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import outline_of
from foldline.engine.tokens.counter import MESSAGE, RESULT, count_message, count_text
from foldline.engine.tokens.estimates import ESTIMATES, EXACT
from foldline.engine.tokens.measures import Measure, exact_measure, measure_of
from foldline.engine.wording import CLEARED, HIDDEN, LATE, LATE_END, READ_AGAIN, SUMMARY, UNANSWERED
from tests.support.conversations import Conversation, answer, assistant, read_call

LONG = "fold the line\n" * 60
PROVIDER = "anthropic"
GOALS = Goals(limit=9_000, trigger=8_000, target=500, keep_recent=0, summary_max=300, minimum_saving=0)


def work(name: str, text: str = LONG) -> list[Message]:
    return [assistant("", ToolCall(name, "ls", "{}")), answer(name, text)]


def edited_talk() -> Conversation:
    """A read that is superseded, a result that is cleared, a run that is hidden and a call without a result."""
    reads = [assistant("Reading.", read_call("a")), answer("a", LONG), assistant("", read_call("b")), answer("b", LONG)]
    talk = Conversation.of([user("go"), *reads, *work("c"), *work("d"), assistant("", ToolCall("e", "ls", "{}"))])
    talk.extend([user("on")])
    talk.apply([Edit("supersede", 3, 3), Edit("clear", 7, 7), Edit("hide", 8, 9)])
    return talk


def estimated(talk: Conversation, counter: str) -> int:
    """The tokens of a view by the estimate itself."""
    return sum(ESTIMATES[counter].of_message(message, PROVIDER) for message in talk.view())


def late_result() -> Facts:
    return Conversation.of([user("go"), answer("z", LONG)]).facts[1]


def test_the_exact_measure_is_what_the_wordings_take() -> None:
    measure = exact_measure()
    assert measure.frame == MESSAGE + RESULT
    assert measure.cleared == count_text(CLEARED)
    assert measure.pointer == count_text(READ_AGAIN)
    assert measure.late == count_text(LATE.format(1)) + count_text(LATE_END.format(1)) - RESULT
    assert measure.marker == count_message(user(HIDDEN))
    assert measure.stub == count_message(answer("a", UNANSWERED))
    assert measure.least_pending == SMALLEST_SUMMARY + count_message(user(SUMMARY))


def test_the_exact_measure_is_one_whatever_the_provider_and_changes_no_facts() -> None:
    assert measure_of(EXACT, PROVIDER) is measure_of(EXACT) is exact_measure()
    entry = facts_of(answer("a", LONG))
    assert exact_measure().counted(entry) is entry


def test_an_outline_that_is_counted_exactly_is_measured_already() -> None:
    outline = edited_talk().outline
    assert outline.measured(exact_measure()) is outline


@pytest.mark.parametrize("counter", ESTIMATES)
def test_an_estimated_outline_counts_the_edited_view_by_the_estimate(counter: str) -> None:
    talk = edited_talk()
    assert talk.outline.measured(measure_of(counter, PROVIDER)).tokens == estimated(talk, counter)


@pytest.mark.parametrize("counter", ESTIMATES)
def test_an_outline_may_be_edited_before_it_is_measured_or_after(counter: str) -> None:
    outline, measure = Conversation.of([*work("a"), *work("b"), *work("c"), user("on")]).outline, measure_of(counter)
    edits = [Edit("clear", 2, 2), Edit("hide", 3, 4), Edit("excerpt", 6, 6)]
    assert outline.edited(edits).measured(measure).tokens == outline.measured(measure).edited(edits).tokens


def test_the_models_provider_makes_an_estimate_larger() -> None:
    entry = facts_of(user(LONG))
    plain, multiplied = (measure_of("neurolink", provider).counted(entry).tokens for provider in ("openai", "mistral"))
    assert multiplied > plain


def test_facts_from_before_sizes_were_kept_stay_exact() -> None:
    talk = edited_talk()
    old = [entry._replace(details=entry.details.known()._replace(sizes=())) for entry in talk.facts]
    measure = measure_of("neurolink", PROVIDER)
    assert [measure.counted(entry) for entry in old] == old
    assert outline_of(old, LiveEdits()).measured(measure).tokens == outline_of(old, LiveEdits(), measure).tokens


def test_excerpts_are_estimated_in_proportion_to_the_whole() -> None:
    measure = measure_of("agent-code")
    entry = facts_of(answer("a", LONG * 20))
    counted = measure.counted(entry)
    whole, exact_whole = measure.content(counted), exact_measure().content(entry)
    assert whole != exact_whole
    assert len(entry.excerpts) == 2
    for tokens, exact in zip(counted.excerpts, entry.excerpts, strict=True):
        assert 0 <= tokens - whole * exact / exact_whole < 1
    assert measure.shown(counted, Edit("excerpt", 1, 1, 1)) == measure.frame + counted.excerpts[1]


def test_an_excerpt_that_saves_nothing_saves_nothing_by_estimate() -> None:
    entry = facts_of(answer("a", LONG * 20))._replace(details=Details(excerpts=(0, 50)))
    assert measure_of("neurolink").counted(entry).excerpts[0] == 0


def test_what_arguments_save_is_estimated_in_proportion() -> None:
    entry = facts_of(assistant("", ToolCall("a", "write", f'{{"content": "{"fold " * 400}"}}')))
    measure = measure_of("agent-code")
    counted = measure.counted(entry)
    assert 0 < entry.arguments_saving < entry.tokens
    assert counted.arguments_saving == entry.arguments_saving * (counted.tokens - measure.frame) // entry.tokens
    assert measure.shown(counted, Edit("excerpt", 1, 1)) == counted.tokens - counted.arguments_saving


def test_a_late_result_takes_its_quotation_more() -> None:
    late, prompt = late_result(), facts_of(answer("z", LONG))
    assert late.is_late
    for measure in (exact_measure(), measure_of("agent-code")):
        as_counted = measure.counted(late)
        assert as_counted.tokens - measure.counted(prompt).tokens == measure.late
        assert measure.content(as_counted) == measure.content(measure.counted(prompt))
        assert as_counted.excerpts == measure.counted(prompt).excerpts
        assert measure.shown(as_counted, Edit("clear", 2, 2)) == measure.frame + measure.late + measure.cleared


@pytest.mark.parametrize("counter", ESTIMATES)
def test_a_late_result_in_an_estimated_view_is_rounded_up_apart_from_its_quotation(counter: str) -> None:
    talk = Conversation.of([user("go"), answer("z", LONG)])
    assert 0 <= talk.outline.measured(measure_of(counter, PROVIDER)).tokens - estimated(talk, counter) <= 1


@pytest.mark.parametrize("measure", [exact_measure(), measure_of("neurolink", PROVIDER)])
def test_the_least_an_entry_takes_is_its_placeholder_or_an_excerpt_and_never_its_pointer(measure: Measure) -> None:
    long, short = (measure.counted(facts_of(answer("a", text))) for text in (LONG, "ok"))
    assert measure.least(long) == measure.frame + min(measure.cleared, *filter(None, long.excerpts))
    named = long._replace(details=long.details.known()._replace(placeholders=(measure.cleared + 5, 1)))
    assert measure.least(named) == measure.frame + min(measure.cleared + 5, *filter(None, long.excerpts))
    assert measure.least(long._replace(details=Details(excerpts=(0, 3)))) == measure.frame + 3
    assert measure.least(short) == short.tokens


def test_an_outline_is_measured_once_by_a_measure_and_anew_by_another() -> None:
    outline = Conversation.of([user("go"), answer("z", LONG)]).outline
    own, other = measure_of("codebuddy"), measure_of("agent-code")
    first = outline.measured(own)
    assert outline.measured(own).items is first.items
    assert outline.measured(other).tokens != first.tokens
    again = outline.measured(own)
    assert (again.tokens, again.measure, again.exact) == (first.tokens, own, outline)


def test_neither_edits_nor_a_report_change_how_an_outline_is_measured() -> None:
    outline = Conversation.of([user("go"), *work("a")]).outline
    measure = measure_of("codebuddy")
    tokens = outline.measured(measure).tokens
    assert Gauge(measure, GOALS, reported=1).seen(outline).tokens == 1
    cleared = outline.edited([Edit("clear", 3, 3)])
    assert cleared.measured(measure).tokens < tokens
    assert replace(outline, live=outline.live.adding([Edit("hide", 1, 1)])).measured(measure).tokens != tokens
    assert outline.measured(measure).tokens == tokens


def test_what_is_no_count_is_the_same_by_each_measure() -> None:
    entry = facts_of(answer("a", f"error: {LONG}", is_error=True))
    seen = measure_of("codebuddy").counted(entry)
    for name in ("is_failure", "chars", "sizes", "said_path", "read"):
        assert getattr(seen, name) == getattr(entry, name)
    assert seen.is_failure
    assert seen.details.known().excerpts == seen.excerpts != entry.excerpts


def test_a_new_entry_adds_itself_and_its_stubs() -> None:
    measure = measure_of("codebuddy")
    entry = facts_of(assistant("Listing.", ToolCall("a", "ls", "{}"), ToolCall("b", "ls", "{}")))
    assert measure.added(entry, 2) == measure.counted(entry).tokens + 2 * measure.stub


def test_what_an_estimate_takes_for_a_whole_message_is_counted_once() -> None:
    measure, estimate = measure_of("neurolink", PROVIDER), ESTIMATES["neurolink"]
    assert measure.marker == estimate.of_message(user(HIDDEN), PROVIDER)
    assert measure.stub == estimate.of_message(answer("a", UNANSWERED), PROVIDER)
    assert measure.least_pending == SMALLEST_SUMMARY + estimate.of_message(user(SUMMARY), PROVIDER)
