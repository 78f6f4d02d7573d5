from copy import deepcopy
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from foldline import InMemorySession, compact
from foldline.engine.errors import FixedPartsDoNotFit, InvalidMessage, InvalidPolicy
from foldline.engine.formats import FORMATS, rules
from foldline.engine.in_memory_session import thinned
from foldline.engine.models.bounds import FixedInput, bounds_of
from foldline.engine.models.gauge import Frame
from foldline.engine.planning.in_place import InPlace
from foldline.engine.policies.policy import policy_of
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_messages, count_system, count_tools

LONG = "fold the line\n" * 60
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}


def turn(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    return [
        {"role": "user", "content": f"Look at part {number}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": LONG},
        {"role": "assistant", "content": f"Part {number} is fine."},
    ]


def grown(turns: int, **arguments: Any) -> InMemorySession:
    session = InMemorySession(context_window="4k", **arguments)
    for number in range(turns):
        session.add(turn(number))
    return session


class Twin:
    """The messages of a session without summaries, compacted when it was; its view is made anew each time."""

    def __init__(self, window: str, name: str) -> None:
        self._format = FORMATS[name]
        policy = policy_of({}, PRESETS)
        self._policies = (
            policy.naming([own.name for own in policy.stages if own.name != "summarize"]),
            policy.on("asked"),
        )
        self._bounds = bounds_of(Frame(None, window), policy, FixedInput(None, (), ()))
        self._in_place = InPlace(())

    def view(self, added: list[dict[str, Any]], *, compacts: bool) -> list[dict[str, Any]]:
        for message in self._format.parse(added):
            self._in_place.add(message)
        if compacts:
            self._in_place.compact_or_start_anew(*self._policies, self._bounds.goals, self._bounds.gauge)
        return self._format.render(self._in_place.view(), None).messages


def test_a_short_session_shows_what_was_added() -> None:
    session = InMemorySession(context_window="4k", system="Be brief.", tools=[TOOL])
    session.add(turn(0))
    assert session.view() == turn(0)
    parts = {"system": count_system("Be brief."), "tools": count_tools([TOOL])}
    assert session.budget.breakdown == {**parts, "history": count_messages(FORMATS["openai"].parse(turn(0)))}
    assert session.budget.limit == compact(turn(0), context_window="4k").budget.limit
    assert session.compactions == 0


@pytest.mark.parametrize("summarize", [False, True])
def test_every_view_fits_and_follows_the_rules_of_its_format(*, summarize: bool) -> None:
    session = InMemorySession(context_window="4k", summarize=summarize)
    for number in range(40):
        for message in turn(number):
            session.add([message])
            assert session.budget.fits
            read = FORMATS["openai"].parse(session.view())
            assert count_messages(read) == session.budget.breakdown["history"]
            is_waiting = "tool_calls" in message
            assert is_waiting or rules.check("openai", session.view(), None) == []
    assert session.compactions > 1
    assert len(session.view()) < 4 * 40


@pytest.mark.parametrize("name", [*FORMATS])
def test_adding_one_by_one_leads_to_the_view_that_all_of_it_is_rendered_to(name: str) -> None:
    wire = [FORMATS[name].render(FORMATS["openai"].parse(turn(number)), None).messages for number in range(40)]
    session, twin, compactions = InMemorySession(context_window="4k", format_name=name), Twin("4k", name), 0
    for messages in wire:
        session.add(messages)
        assert session.view() == twin.view(messages, compacts=session.compactions > compactions)
        compactions = session.compactions
    assert session.compactions > 1
    assert session.view()[-len(wire[-1]) :] == wire[-1]


def test_a_long_view_is_written_on_from_any_place() -> None:
    random, session, twin, compactions = Random(1), InMemorySession(context_window="16k"), Twin("16k", "openai"), 0
    for number in range(600):
        messages = turn(number)
        messages[2]["content"] = LONG if random.random() < 0.05 else "Nothing."
        session.add(messages)
        assert session.view() == twin.view(messages, compacts=session.compactions > compactions)
        compactions = session.compactions
    assert compactions > 2
    assert len(session.view()) > 200


@pytest.mark.parametrize("words", range(1_500, 1_900, 50))
def test_summaries_give_way_to_a_last_message_that_is_large(words: int) -> None:
    """A summary that was written when there was room is written again, smaller."""
    added: list[dict[str, Any]] = []
    session = InMemorySession(context_window="3k", summarize=True)
    for number in range(30):
        added += [{"role": "user", "content": f"Never delete file{number}.py."}, {"role": "assistant", "content": LONG}]
        session.add(added[-2:])
    added.append({"role": "user", "content": "word " * words})
    before = session.compactions
    session.add(added[-1:])
    folded = compact(added, context_window="3k", summarize=True)
    assert folded.fits
    assert session.budget.fits
    assert session.compactions == before + 1
    assert session.view()[-1] == added[-1]
    assert count_messages(FORMATS["openai"].parse(session.view())) == session.budget.used


@pytest.mark.parametrize("summarize", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_view_fits_whenever_one_compaction_of_all_messages_fits(*, seed: int, summarize: bool) -> None:
    added: list[dict[str, Any]] = []
    random = Random(seed)
    session = InMemorySession(context_window="3k", summarize=summarize)
    for number in range(20):
        text = "word " * random.choice([5, 50, 300, random.randrange(2_000)])
        call, (_, asks, answers, _) = random.random() < 0.5, turn(number)
        added += [asks, {**answers, "content": text}] if call else [{"role": "user", "content": text + "Never stop."}]
        session.add(added[-2 if call else -1 :])
        assert session.budget.fits or not compact(added, context_window="3k", summarize=summarize).fits


@pytest.mark.parametrize("name", ["openai", "anthropic", "responses", "gemini"])
def test_the_format_is_that_of_the_first_messages_that_show_one(name: str) -> None:
    plain = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Hi."}]}]
    plain = [] if name == "gemini" else plain
    wire = FORMATS[name].render(FORMATS["openai"].parse(turn(0)), None).messages
    session = InMemorySession(context_window="4k")
    for message in plain:
        session.add([message])
    assert session.view() == plain
    for message in wire:
        session.add([message])
    folded = compact([*plain, *wire], context_window="4k")
    assert session.view() == folded.messages
    assert session.budget.breakdown == folded.budget.breakdown


def test_what_shows_a_format_and_is_refused_leaves_the_session_as_it_was() -> None:
    plain = [{"role": "user", "content": "Hi."}]
    session = InMemorySession(context_window="4k")
    session.add(plain)
    with pytest.raises(InvalidMessage, match=r"messages\[0\].content\[0\].type"):
        session.add([{"role": "user", "content": [{"type": "tool_use"}]}])
    with pytest.raises(InvalidMessage, match=r"added\[0\].parts"):
        session.add([{"role": "user", "parts": []}])
    with pytest.raises(InvalidMessage, match="a list"):
        session.add({"role": "user"})  # type: ignore[arg-type]
    assert session.view() == plain
    session.add(turn(0))
    assert session.view() == [*plain, *turn(0)]


def test_between_compactions_views_only_grow_at_their_end() -> None:
    session = InMemorySession(context_window="4k")
    before, compactions = session.view(), 0
    for number in range(40):
        session.add(turn(number))
        after = session.view()
        assert session.compactions > compactions or after[: len(before)] == before
        before, compactions = after, session.compactions


def test_a_late_result_stands_behind_those_of_the_open_batch() -> None:
    session = InMemorySession(context_window="4k")
    _, asks, answers, _ = turn(0)
    session.add([asks, {"role": "tool", "tool_call_id": "gone", "content": "late"}])
    assert [message["role"] for message in session.view()] == ["assistant", "user"]
    session.add([answers])
    assert [message["role"] for message in session.view()] == ["assistant", "tool", "user"]


@pytest.mark.parametrize("name", [*FORMATS])
def test_a_view_that_was_handed_out_does_not_change(name: str) -> None:
    wire = [FORMATS[name].render(FORMATS["openai"].parse([message]), None).messages for message in turn(0) * 5]
    session = InMemorySession(context_window="4k", format_name=name)
    views = []
    for messages in wire:
        session.add(messages)
        views.append((session.view(), deepcopy(session.view())))
    assert all(view == before for view, before in views)


def test_a_call_without_a_result_gets_a_stub_once_its_batch_is_closed() -> None:
    session = InMemorySession(context_window="4k")
    session.add(turn(0)[:2])
    assert session.view() == turn(0)[:2]
    session.add([{"role": "user", "content": "Go on."}])
    assert [message["role"] for message in session.view()] == ["user", "assistant", "tool", "user"]


def test_system_messages_at_the_front_stay() -> None:
    rule = {"role": "system", "content": "Never touch config.toml."}
    session = InMemorySession(context_window="4k")
    session.add([rule])
    for number in range(40):
        session.add(turn(number))
    assert session.view()[0] == rule
    assert session.budget.breakdown["system"] == count_messages(FORMATS["openai"].parse([rule]))


def test_a_system_message_after_a_message_without_tokens_is_none_at_the_front() -> None:
    session, empty = InMemorySession(context_window="4k"), {"role": "assistant", "content": ""}
    session.add([empty])
    session.add([{"role": "system", "content": "Never touch config.toml."}])
    assert session.budget.breakdown["system"] == 0
    assert (
        session.budget.breakdown
        == compact(
            [empty, {"role": "system", "content": "Never touch config.toml."}], context_window="4k"
        ).budget.breakdown
    )


def test_a_policy_with_an_estimate_compacts_by_its_own_count() -> None:
    session = grown(40, policy={"preset": "neurolink"})
    assert session.compactions > 1
    assert session.budget.fits


def test_what_is_wrong_is_refused_and_nothing_is_added() -> None:
    session = grown(1)
    with pytest.raises(InvalidMessage, match=r"messages\[1\].role"):
        session.add([turn(1)[0], {"role": "narrator", "content": "Once upon a time."}])
    assert session.view() == turn(0)
    with pytest.raises(InvalidPolicy, match="no format"):
        InMemorySession(context_window="4k", format_name="morse")
    with pytest.raises(FixedPartsDoNotFit):
        InMemorySession(context_window="4k", system=LONG * 40)
    bare = InMemorySession(context_window="4k")
    with pytest.raises(FixedPartsDoNotFit):
        bare.add([{"role": "system", "content": LONG * 40}])
    assert bare.view() == []


def test_of_a_long_view_few_places_are_kept_and_none_is_far_from_where_it_is_needed() -> None:
    places = [0]
    for end in range(32, 32 * 1_000, 32):
        places = sorted(thinned([*places, end]))
        assert places[0] == 0
        assert places[-1] == end
        assert all(after - before <= max(32, end - after) for before, after in pairwise(places))
    assert len(places) < 25
