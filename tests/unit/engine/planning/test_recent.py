import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, Text, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.planning.recent import due_items, older_items
from foldline.engine.policies.policy import Stage, Value
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.measures import exact_measure, measure_of
from tests.support.conversations import Conversation, answer, assistant

GOALS = Goals(limit=9_000, trigger=8_000, target=500, keep_recent=0, summary_max=300, minimum_saving=0)
TEXT = "word " * 20
# What a message of this text takes.
EACH = Conversation.of([user(TEXT)]).outline.tokens
ROOM = 10_000


def talk_of(count: int) -> Conversation:
    """Messages of one size, of user and assistant in turn; each is a unit."""
    return Conversation.of([user(TEXT) if number % 2 == 0 else assistant(TEXT) for number in range(count)])


def work(*names: str, text: str = "") -> list[Message]:
    """A batch: its head and a result for each call."""
    head = assistant(text, *(ToolCall(name, "ls", "{}") for name in names))
    return [head, *(answer(name, TEXT) for name in names)]


def kept(talk: Conversation, keep_recent: int = 0, room: int = ROOM, **parameters: Value) -> int:
    """How many of the newest items are kept recent."""
    outline = talk.outline
    return len(outline.items) - older_items(outline, Stage("summarize", parameters), keep_recent, room)


def test_nothing_is_kept_recent_where_nothing_is_to_be() -> None:
    assert kept(talk_of(10)) == 0


def test_so_many_tokens_as_the_policy_keeps_recent_are_kept() -> None:
    assert kept(talk_of(10), EACH * 3) == 3
    assert kept(talk_of(10), EACH * 3 + 1) == 4


def test_tokens_of_the_stages_own_take_the_place_of_the_policys() -> None:
    assert kept(talk_of(10), EACH * 3, keep_tokens=EACH * 5) == 5
    assert kept(talk_of(10), EACH * 3, keep_tokens=0) == 0


def test_tokens_are_kept_only_as_far_as_there_is_room() -> None:
    assert kept(talk_of(10), EACH * 5, EACH * 2) == 2
    assert kept(talk_of(10), 0, EACH * 2, keep_tokens=EACH * 5) == 2


def test_so_many_messages_are_kept() -> None:
    assert kept(talk_of(10), keep_messages=4) == 4
    assert kept(talk_of(3), keep_messages=4) == 3


def test_a_share_of_the_messages_is_rounded_up() -> None:
    assert kept(talk_of(10), keep_share=0.3) == 3
    assert kept(talk_of(11), keep_share=0.3) == 4


def test_the_larger_of_a_number_and_a_share_is_kept() -> None:
    assert kept(talk_of(10), keep_messages=4, keep_share=0.3) == 4
    assert kept(talk_of(20), keep_messages=4, keep_share=0.3) == 6


def test_messages_that_say_something_are_those_of_the_user_and_texts_of_the_assistant() -> None:
    talk = Conversation.of([user(TEXT), assistant(TEXT), *work("a"), *work("b", text="Listing."), user(TEXT)])
    assert kept(talk, keep_texts=1) == 1
    assert kept(talk, keep_texts=2) == 2
    assert kept(talk, keep_texts=3) == 4


def test_messages_texts_and_tokens_all_have_to_be_kept() -> None:
    talk = talk_of(10)
    assert kept(talk, keep_messages=2, keep_texts=5, keep_tokens=EACH * 3) == 5
    assert kept(talk, keep_messages=6, keep_texts=5, keep_tokens=EACH * 3) == 6
    assert kept(talk, keep_messages=2, keep_texts=5, keep_tokens=EACH * 7) == 7


def test_the_most_that_is_kept_ends_every_other_request() -> None:
    talk = talk_of(10)
    assert kept(talk, keep_messages=6, keep_texts=5, keep_tokens_most=EACH * 2) == 2
    assert kept(talk, keep_messages=6, keep_texts=5, keep_tokens_most=EACH * 2 + 1) == 3
    assert kept(talk, keep_share=0.9, keep_tokens=EACH * 7, keep_tokens_most=EACH * 2) == 2
    assert kept(talk, keep_messages=1, keep_tokens_most=EACH * 2) == 1


def test_the_most_is_no_more_than_there_is_room_for() -> None:
    assert kept(talk_of(10), 0, EACH * 2, keep_messages=6, keep_tokens_most=EACH * 5) == 2


def test_the_most_also_holds_where_there_is_no_room() -> None:
    assert kept(talk_of(10), 0, 1, keep_messages=6, keep_tokens_most=EACH * 5) == 1
    assert kept(talk_of(10), 0, 0, keep_messages=6, keep_tokens_most=EACH * 5) <= 1


def test_whole_units_are_kept() -> None:
    talk = Conversation.of([user(TEXT), *work("a", "b", "c"), *work("d", "e"), user(TEXT)])
    assert kept(talk, keep_messages=2) == 2
    assert kept(talk, keep_messages=4) == 2
    assert kept(talk, keep_messages=5) == 3
    assert kept(talk, keep_tokens=EACH + 1) == 2


def test_a_live_summary_is_one_message_that_says_something() -> None:
    talk = talk_of(10)
    talk.apply([Edit("condense", 1, 6, summary="s1", tokens=40, original_tokens=6 * EACH)])
    assert kept(talk, keep_messages=4) == 4
    assert kept(talk, keep_messages=5) == kept(talk, keep_texts=5) == 5
    # Of five messages, not of ten.
    assert kept(talk, keep_share=0.4) == 2
    assert kept(talk, keep_tokens=4 * EACH + 1) == 5
    middle = talk_of(10)
    middle.apply([Edit("condense", 3, 6, summary="s1", tokens=40, original_tokens=4 * EACH)])
    assert kept(middle, keep_texts=6) == kept(middle, keep_messages=6) == 6


def test_nothing_is_older_if_all_that_would_be_is_too_little() -> None:
    talk = talk_of(6)
    assert kept(talk, keep_messages=4, at_least_messages=2) == 4
    assert kept(talk, keep_messages=4, at_least_messages=3) == 6
    assert kept(talk, keep_messages=5, at_least_messages=2) == 6


def test_what_is_cleared_or_hidden_counts_as_it_shows() -> None:
    talk = Conversation.of([user(TEXT), *work("a"), user(TEXT), assistant(TEXT)])
    talk.apply([Edit("hide", 2, 3)])
    assert kept(talk, keep_tokens=2 * EACH + 1) == 4
    assert kept(talk, keep_messages=4) == 3


def test_nothing_is_due_while_the_target_is_reached_unless_asked() -> None:
    outline, policy = talk_of(10).outline, PRESETS["foldline"]
    reached = Gauge(exact_measure(), GOALS.aiming_at(outline.tokens))
    passed = Gauge(exact_measure(), GOALS.aiming_at(outline.tokens - 1))
    assert due_items(outline, policy, reached, is_asked=False) == 0
    assert due_items(outline, policy, reached, is_asked=True) == 2
    assert due_items(outline, policy, passed, is_asked=False) == 2


def test_the_policys_own_count_says_whether_the_target_is_reached() -> None:
    outline, policy = talk_of(10).outline, PRESETS["neurolink"]
    measure = measure_of("neurolink", "mistral")
    seen = outline.measured(measure).tokens
    assert seen > outline.tokens
    assert due_items(outline, policy, Gauge(measure, GOALS.aiming_at(seen)), is_asked=False) == 0
    assert due_items(outline, policy, Gauge(measure, GOALS.aiming_at(seen - 1)), is_asked=False) == 6


@pytest.mark.parametrize(
    ("entries", "more", "whole", "forward"),
    [(1, 0, 4, 4), (1, 1, 3, 4), (3, 0, 3, 4), (3, 1, 3, 3), (4, 0, 3, 3), (4, 1, 2, 2)],
)
def test_a_batch_stays_whole_or_goes_where_its_results_alone_are_enough(
    entries: int, more: int, whole: int, forward: int
) -> None:
    talk = Conversation.of([user(TEXT), *work("a"), user(TEXT), *work("b", "c"), user(TEXT)])
    tokens = sum(entry.tokens for entry in talk.facts[-entries:]) + more
    for rounds_forward, older in ((False, whole), (True, forward)):
        own = Stage("summarize", {"keep_tokens": tokens, "rounds_forward": rounds_forward})
        assert older_items(talk.outline, own, 0, ROOM) == older


@pytest.mark.parametrize("tokens", [0, 1, EACH, 3 * EACH])
def test_the_last_item_is_kept_though_its_results_alone_are_enough(tokens: int) -> None:
    talk = Conversation.of([user(TEXT), *work("a"), user(TEXT), *work("b", "c", "d")])
    assert kept(talk, keep_tokens=tokens, rounds_forward=True) == 1


def test_results_alone_count_as_they_show() -> None:
    talk, cleared = (Conversation.of([user(TEXT), *work("a", "b"), user(TEXT)]) for _ in range(2))
    cleared.apply([Edit("clear", 3, 3), Edit("clear", 4, 4)])
    tokens = cleared.outline.tokens - EACH - cleared.facts[1].tokens + 1
    assert kept(talk, keep_tokens=tokens, rounds_forward=True) == 1
    assert kept(cleared, keep_tokens=tokens, rounds_forward=True) == 2


def test_nothing_is_kept_of_nothing() -> None:
    assert older_items(Conversation.of([]).outline, Stage("summarize", {"rounds_forward": True}), 0, ROOM) == 0


def note(text: str) -> Message:
    return Message("developer", (Text(text),))


@pytest.mark.parametrize(("keeps", "count"), [(True, 3), (False, 1)])
def test_notes_stay_with_what_comes_after_them(*, keeps: bool, count: int) -> None:
    talk = Conversation.of([user(TEXT), *work("a"), note("Mind."), note("Quietly."), assistant(TEXT)])
    assert kept(talk, keep_tokens=1, keeps_notes=keeps) == count


def test_notes_stay_with_nothing_where_nothing_is_kept() -> None:
    assert kept(Conversation.of([user(TEXT), note("Mind.")]), keep_tokens=0, keeps_notes=True) == 0
