"""Automatic compactions during a tool loop whose reasoning the model still works with."""

from __future__ import annotations

from datetime import timedelta

from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Clock, Scene, Wire, words

PUT_OFF_SECONDS = 6


def asked(tokens: int) -> Wire:
    return {"role": "user", "content": words(tokens)}


def thinking(call_id: str | None, text: str = "done") -> Wire:
    """An answer with signed reasoning, and a call or the last words of the turn."""
    call: Wire = {"type": "tool_use", "id": call_id, "name": "run", "input": {}}
    rest = {"type": "text", "text": text} if call_id is None else call
    return {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, rest]}


def found(call_id: str, tokens: int) -> Wire:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": words(tokens)}]}


def say(scene: Scene, *messages: Wire) -> None:
    for message in messages:
        scene.append(message, format_name="anthropic")


def in_a_loop(scene: Scene, tokens: int) -> None:
    """Two turns, and then a tool loop whose newest result has so many tokens."""
    say(scene, asked(150), thinking("a"), found("a", 200), thinking(None))
    say(scene, asked(50), thinking("b"), found("b", 100), thinking("c"), found("c", tokens))


def test_edits_wait_while_the_loop_goes_on_and_the_view_fits(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"policy": {"weighs_prefix": False}})
    in_a_loop(scene, 320)
    assert scene.used > 0.8 * scene.limit
    assert (scene.live, scene.states) == ([], ["queued"])
    say(scene, thinking(None))
    assert scene.live


def test_edits_do_not_wait_once_the_view_does_not_fit(scene: Scene) -> None:
    in_a_loop(scene, 320)
    say(scene, thinking("d"), found("d", 200))
    assert scene.live
    assert scene.used <= scene.limit


def test_nothing_waits_for_reasoning_that_is_left_out_already(scene: Scene) -> None:
    in_a_loop(scene, 320)
    claim = scene.claimed()
    scene.compact(summarize=False, target_tokens=650)
    assert scene.publish(claim, tokens=60) == "succeeded"


def test_a_caller_who_wants_a_compaction_gets_it_during_the_loop(scene: Scene) -> None:
    in_a_loop(scene, 320)
    assert scene.compact(summarize=False, target_tokens=500).made


def test_a_summary_is_kept_until_the_loop_has_ended(scene: Scene, clock: Clock) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"policy": {"stages": ["summarize"]}})
    in_a_loop(scene, 320)
    assert scene.publish(scene.claimed(), tokens=60) == "queued"
    assert (scene.live, scene.states) == ([], ["queued"])
    clock.advance(PUT_OFF_SECONDS)
    assert scene.work() == []
    assert (scene.live, scene.states) == ([], ["queued"])
    say(scene, thinking(None))
    assert scene.layout[0] == "summary 1-4"
    clock.advance(PUT_OFF_SECONDS)
    assert scene.work() == []
    assert scene.states == ["superseded"]


def test_a_summary_that_a_caller_waits_for_is_published_during_the_loop(scene: Scene) -> None:
    in_a_loop(scene, 320)
    scene.compact(summarize=True)
    assert scene.publish(scene.claimed(), tokens=60) == "succeeded"


def test_a_long_session_publishes_soon_after_its_loop_has_ended(scene: Scene, clock: Clock) -> None:
    scene.resize(2_600)
    for _ in range(130):
        say(scene, asked(2), {"role": "assistant", "content": words(2)})
    say(scene, asked(150), thinking("a"), found("a", 300), thinking("b"), found("b", 300))
    while scene.used <= 0.8 * scene.limit * 2.6:
        say(scene, thinking(f"c{scene.used}"), found(f"c{scene.used}", 60))
    assert scene.publish(scene.claimed(), tokens=60) == "queued"
    say(scene, thinking(None))
    assert scene.work() == []
    assert "summary" in " ".join(scene.layout)


def test_a_loop_that_nobody_ends_is_looked_at_ever_more_rarely(scene: Scene, clock: Clock) -> None:
    in_a_loop(scene, 320)
    assert scene.publish(scene.claimed(), tokens=60) == "queued"
    looks, begun = 0, clock.now
    while clock.now - begun < timedelta(days=1):
        due = scene.jobs[0].not_before
        # A moment before and when it is due.
        for pause in (due / 1000 - clock.now.timestamp() - 1, 1):
            assert scene.jobs[0].not_before == due
            clock.advance(pause)
            assert scene.work() == []
        assert scene.jobs[0].not_before > due
        looks += 1
    assert 24 <= looks <= 40
