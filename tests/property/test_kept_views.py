"""What a process keeps of sessions changes no view: views are those of a process that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from foldline.engine.formats import FORMATS
from foldline.log.errors import SessionsError
from foldline.log.storage.known_entries import ENTRY_BYTES, KnownEntries
from foldline.log.storage.store import Store
from foldline.log.use_cases.views import view
from tests.support.log.sessions import Scene, assistant, batch, calls, open_store, result, user
from tests.support.processes.databases import sqlite_database

# Everything; a few blocks, so that something is dropped all the time; nothing.
SIZES: Final = (1 << 30, 40 * ENTRY_BYTES, 0)


def undo_newest(scene: Scene, _size: int) -> None:
    made = [record.id for record in scene.records if record.kind == "compaction"]
    if made:
        scene.undo(made[-1])


def redo(scene: Scene, _size: int) -> None:
    scene.redo()


def move_back(scene: Scene, size: int) -> None:
    scene.move(scene.entries[-1 - size % len(scene.entries)])


def leave_a_call_open(scene: Scene, _size: int) -> None:
    scene.append(calls("open"))
    scene.append(result("open", 5), result("late", 5))


STEPS: Final[Mapping[str, Callable[[Scene, int], Any]]] = {
    "ask": lambda scene, size: scene.append(user(size)),
    "answer": lambda scene, size: scene.append(*(assistant(size % 20) for _ in range(9))),
    "call": lambda scene, size: scene.append(*batch(f"call_{len(scene.entries)}", size)),
    "late": leave_a_call_open,
    "compact": lambda scene, _size: scene.compact(),
    "work": lambda scene, _size: scene.work(),
    "undo": undo_newest,
    "redo": redo,
    "move": move_back,
    "pin": lambda scene, _size: scene.pin(5),
}


def view_of(store: Store, scene: Scene, format_name: str) -> tuple[Any, ...]:
    with store.read() as tx:
        found = view(tx, scene.tenant, scene.id, format_name=format_name, stub_open=True)
    rendered = FORMATS[format_name].render(found.messages, None)
    return rendered.messages, rendered.lossy, found.used, found.open_calls, found.shown.reasoning


@pytest.mark.timeout(600)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 120)), min_size=5, max_size=30),
    st.sampled_from(SIZES),
)
def test_views_are_those_of_a_process_that_keeps_nothing(steps: list[tuple[str, int]], most_bytes: int) -> None:
    known = KnownEntries(most_bytes)
    with sqlite_database() as url, open_store(url) as store, open_store(url, known=known) as keeping:
        scene = Scene(store)
        scene.append(user(10))
        for name, size in steps:
            with suppress(SessionsError):
                STEPS[name](scene, size)
                event(name)
            for format_name in FORMATS:
                assert view_of(keeping, scene, format_name) == view_of(store, scene, format_name)
        assert known.size <= most_bytes
