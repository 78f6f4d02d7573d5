"""When a session is compacted, and that its view fits afterwards."""

from __future__ import annotations

import pytest

from foldline.engine.errors import ViewDoesNotFit
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Scene, assistant, batch, calls, result, turns, user
from tests.support.processes.databases import only_sqlite

# What is planned does not depend on where it is stored.
database_kind = only_sqlite


def test_a_view_that_does_not_fit_is_cut_even_if_that_saves_less_than_an_automatic_plan_must(scene: Scene) -> None:
    step = scene.append(user(26), assistant(26), user(940)).step
    (made,) = step.made
    assert 0 < made.tokens_before - made.tokens_after < scene.path.goals().minimum_saving
    assert scene.used <= 1_000


def test_an_automatic_plan_that_saves_little_changes_nothing_while_the_view_fits(scene: Scene) -> None:
    scene.append(user(26), assistant(26), user(800))
    assert scene.layout == ["user 1", "batch 2", "user 3"]
    assert scene.states == []


def test_what_is_pending_is_summarized_even_if_that_saves_nothing(scene: Scene) -> None:
    scene.append(*turns(1, 60), user(900))
    assert scene.layout == ["hidden 1-2", "user 3"]
    before = scene.used
    assert scene.work(tokens=40) == ["succeeded"]
    assert scene.layout == ["summary 1-2", "user 3"]
    assert scene.used > before


def test_a_history_of_user_messages_alone_is_made_to_fit(scene: Scene) -> None:
    scene.append(*(user(150) for _ in range(7)))
    assert scene.used - scene.interim_tokens <= 500
    assert scene.used <= 800
    assert scene.layout[0].startswith("hidden 1-")
    assert scene.layout[-1] == "user 7"


def test_the_current_turn_is_cut_once_no_older_one_is_left(scene: Scene) -> None:
    scene.append(user(20), *batch("a", 1_200))
    assert scene.layout == ["user 1", "batch 2-3 (excerpt 3)"]
    assert scene.used <= 1_000


def test_what_is_hidden_is_always_enough_for_a_summary(scene: Scene) -> None:
    """Hiding the first message would reach the target, but no summary is smaller than that message."""
    scene.append(user(30), assistant(30), user(100), assistant(20))
    scene.compact(summarize=False, target_tokens=scene.used - 10)
    assert scene.layout == ["hidden 1-2", "user 3", "batch 4"]
    assert scene.work() == ["succeeded"]
    assert scene.pending == 0


def test_messages_too_small_for_any_summary_are_not_hidden(scene: Scene) -> None:
    """Hidden they would be pending for ever. The last user message leaves no room, and that is said instead."""
    scene.append(user(10), assistant(10), user(980))
    assert scene.layout == ["user 1", "batch 2", "user 3"]
    assert scene.pending == 0
    with pytest.raises(ViewDoesNotFit):
        scene.wire()


def test_moving_to_a_branch_that_no_longer_fits_compacts_it(scene: Scene) -> None:
    early = scene.append(*turns(1, 20)).entry_ids[-1]
    late = scene.append(*turns(5, 60)).entry_ids[-1]
    scene.move(early)
    scene.append(user(20))
    scene.resize(400)
    step = scene.move(late)
    assert step.made
    assert scene.used <= 400
    assert scene.path.branch == 0


def test_a_pin_that_takes_the_last_room_compacts(scene: Scene) -> None:
    scene.append(user(30), assistant(30), user(860))
    assert scene.layout == ["user 1", "batch 2", "user 3"]
    step = scene.pin(70)
    assert step.made
    assert scene.layout == ["hidden 1-2", "user 3"]
    assert scene.used <= 1_000


def test_a_smaller_window_compacts_at_once(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    step = scene.resize(400)
    assert step.made
    assert scene.used <= 400


def test_a_compact_request_without_summaries_still_queues_what_it_hides(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    step = scene.compact(summarize=False, target_tokens=300)
    assert scene.pending > 0
    assert step.request is not None
    assert scene.states == ["queued"]
    assert scene.work() == ["succeeded"]
    assert scene.pending == 0


def test_a_compact_request_without_summaries_queues_none_if_nothing_is_pending(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    step = scene.compact(summarize=False)
    assert (step.request, scene.states) == (None, [])


def test_an_open_batch_is_never_edited(scene: Scene) -> None:
    scene.append(user(20), calls("a", "b"), result("a", 1_200))
    assert scene.layout == ["user 1", "batch 2-3"]
    scene.append(result("b", 20))
    assert scene.layout == ["user 1", "batch 2-4 (excerpt 3)"]
    assert scene.used <= 1_000


def test_a_session_with_automatic_compaction_off_is_compacted_only_on_request(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"auto_compact": False})
    scene.append(*turns(8, 60))
    assert (scene.live, scene.states) == ([], [])
    scene.compact()
    assert scene.states == ["queued"]
