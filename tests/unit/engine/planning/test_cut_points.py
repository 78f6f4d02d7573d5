from dataclasses import replace

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, Text, ToolCall, user
from foldline.engine.models.budget import Goals
from foldline.engine.planning.cut_points import SummaryRange, turn_split_at
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.wording import summary_frame_tokens
from tests.support.conversations import Conversation, answer, assistant, exact_aims

GOALS = Goals(limit=2_000, trigger=1_600, target=1_000, keep_recent=300, summary_max=200, minimum_saving=100)
POLICY = PRESETS[DEFAULT_PRESET]
WIDE = 100_000


def turn(name: str) -> list[Message]:
    """A user message, a batch and an answer: about 220 tokens."""
    call = ToolCall(name, "ls", "{}")
    return [user(f"{name}?"), assistant("", call), answer(name, "fold the line " * 60), assistant("word " * 30)]


def span(
    talk: Conversation, goals: Goals = GOALS, window: int = WIDE, *, is_asked: bool = False
) -> SummaryRange | None:
    return talk.next_range(exact_aims(POLICY, goals), window, is_asked=is_asked)


def talk_of(turns: int) -> Conversation:
    return Conversation.of([message for number in range(turns) for message in turn(f"t{number}")])


def test_nothing_is_due_while_the_target_is_reached() -> None:
    assert span(talk_of(3)) is None


def test_what_is_older_than_recent_is_due_above_the_target() -> None:
    talk = talk_of(8)
    found = span(talk)
    assert found is not None
    assert found.first == 1
    kept = sum(entry.tokens for entry in talk.facts if entry.seq > found.last)
    assert GOALS.keep_recent <= kept < GOALS.keep_recent + 300
    assert found.max_tokens == GOALS.summary_max


def test_a_range_that_fills_one_input_is_worth_it_however_much_the_policy_wants_to_save() -> None:
    talk, goals = talk_of(30), replace(GOALS, minimum_saving=1_000_000)
    assert span(talk, goals, window=1_000) is not None
    assert span(talk, goals) is None


def test_a_range_ends_before_the_last_user_message() -> None:
    talk = talk_of(8)
    found = span(talk, GOALS.aiming_at(0), is_asked=True)
    assert found is not None
    assert found.last == talk.outline.items[talk.outline.last_user].first - 1


def test_a_long_current_turn_is_split_after_its_user_message() -> None:
    call = ToolCall("a", "ls", "{}")
    work = [message for _ in range(12) for message in (assistant("", call), answer("a", "fold the line " * 60))]
    talk = Conversation.of([user("go"), *work])
    found = span(talk)
    assert found is not None
    assert found.first == 2
    assert talk.facts[found.last - 1].answers == "a"


def test_an_open_batch_is_never_covered() -> None:
    talk = talk_of(8)
    talk.extend([assistant("fold the line " * 200, ToolCall("z", "ls", "{}"))])
    while (found := span(talk, GOALS.aiming_at(0), is_asked=True)) is not None:
        assert found.last < len(talk.facts)
        talk.condense(found, "They talked.")


def test_a_range_takes_what_the_window_holds_but_at_least_one_unit() -> None:
    talk = talk_of(8)
    narrow = span(talk, window=400, is_asked=True)
    assert narrow is not None
    assert 200 < narrow.original_tokens <= 400
    tiny = span(talk, window=1, is_asked=True)
    assert tiny is not None
    assert (tiny.first, tiny.last) == (1, 3)


def test_hidden_ranges_come_first_and_need_no_saving() -> None:
    talk = talk_of(4)
    talk.apply([Edit("hide", 5, 8)])
    found = span(talk, GOALS.aiming_at(2_000))
    assert found is not None
    assert found.is_pending
    assert (found.first, found.last) == (5, 8)
    assert found.saving < 0


def test_a_range_absorbs_the_summaries_beside_it() -> None:
    talk = talk_of(8)
    relaxed = GOALS.aiming_at(2_000)
    talk.apply([Edit("hide", 1, 8)])
    assert talk.condense_all(exact_aims(POLICY, relaxed), WIDE, is_asked=False) == 1
    talk.apply([Edit("hide", 9, 12)])
    found = span(talk, relaxed)
    assert found is not None
    assert (found.first, found.last, found.replaces) == (1, 12, ("s1",))


def test_an_undone_range_is_left_alone_until_asked_or_hidden() -> None:
    talk = talk_of(8)
    talk.live = talk.live.barring([(1, 28)])
    assert span(talk) is None
    assert span(talk, is_asked=True) is not None
    talk.apply([Edit("hide", 1, 4)])
    found = span(talk)
    assert found is not None
    assert (found.first, found.last) == (1, 4)


def test_what_is_too_small_for_the_smallest_summary_is_left() -> None:
    talk = Conversation.of([user("a"), user("b"), user("c")])
    assert span(talk, GOALS.aiming_at(0), is_asked=True) is None


def cleared(turns: int) -> Conversation:
    """Turns whose results are cleared: the view has little of them."""
    talk = talk_of(turns)
    for seq in range(3, 4 * turns - 5, 4):
        talk.apply([Edit("clear", seq, seq)])
    return talk


LITTLE = Goals(limit=2_000, trigger=1_600, target=100, keep_recent=60, summary_max=900, minimum_saving=500)


def test_a_summary_that_would_save_too_little_is_not_made_unasked() -> None:
    assert span(cleared(8), LITTLE) is None
    assert span(cleared(8), LITTLE, is_asked=True) is not None


def test_a_summary_is_short_enough_to_save_the_minimum() -> None:
    most = span(cleared(8), LITTLE, is_asked=True)
    found = span(cleared(8), replace(LITTLE, minimum_saving=100))
    assert found is not None
    assert most is not None
    assert found.saving == 100
    assert found.max_tokens < most.max_tokens


def test_a_cut_inside_a_turn_splits_it_where_it_begins() -> None:
    outline = talk_of(2).outline
    assert [turn_split_at(outline, seq) for seq in range(1, 10)] == [None, 1, 1, 1, None, 5, 5, 5, 5]


def test_a_cut_before_any_turn_splits_none() -> None:
    outline = Conversation.of([assistant("Hello."), assistant("Still here."), user("go")]).outline
    assert [turn_split_at(outline, seq) for seq in (1, 2, 3)] == [None, None, None]


def test_a_note_begins_a_turn_of_its_own() -> None:
    note = Message("developer", (Text("Mind."),))
    outline = Conversation.of([user("go"), assistant("Gone."), note, assistant("Back.")]).outline
    assert [turn_split_at(outline, seq) for seq in (2, 3, 4)] == [1, None, 3]


def test_a_summary_gets_what_the_recent_messages_leave_of_a_target_that_was_named() -> None:
    talk = talk_of(8)
    usual = span(talk, is_asked=True)
    goals = replace(GOALS, target=1_200, is_named=True, summary_max=50)
    named = span(talk, goals, is_asked=True)
    assert usual is not None
    assert usual.max_tokens == GOALS.summary_max
    assert named is not None
    rest = sum(entry.tokens for entry in talk.facts if not named.first <= entry.seq <= named.last)
    assert rest + named.max_tokens + summary_frame_tokens() == goals.target
