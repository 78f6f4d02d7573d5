"""What a process keeps of sessions changes no view: views are those of a process that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
from foldline_api.sent_views import SentViews
from foldline_api.serializers import view_fields
from hypothesis import event, given
from hypothesis import strategies as st

from foldline.engine.errors import CompactionError
from foldline.engine.formats import FORMATS
from foldline.engine.wire import loads
from foldline.log.errors import SessionsError
from foldline.log.storage import paths
from foldline.log.storage.known_entries import ENTRY_BYTES, KnownEntries
from foldline.log.storage.store import Store
from foldline.log.use_cases.views import view
from tests.support.log.sessions import Scene, assistant, batch, calls, open_store, result, user, words
from tests.support.processes.databases import sqlite_database
from tests.support.transcripts import PNG

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


def think(scene: Scene, size: int) -> None:
    number = len(scene.entries)
    thought = {"type": "thinking", "thinking": words(size), "signature": f"signature {number}"}
    call = {"type": "tool_use", "id": f"think_{number}", "name": "run", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": call["id"], "content": words(size)}
    said = ({"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [answer]})
    scene.append(*said, format_name="anthropic")


def show_images(scene: Scene, size: int) -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}
    scene.append({"role": "user", "content": [{"type": "text", "text": "Look."}, *[image] * (size % 3 + 1)]})


REFUSED: Final = (SessionsError, CompactionError)

STEPS: Final[Mapping[str, Callable[[Scene, int], Any]]] = {
    "ask": lambda scene, size: scene.append(user(size)),
    "answer": lambda scene, size: scene.append(*(assistant(size % 20) for _ in range(9))),
    "call": lambda scene, size: scene.append(*batch(f"call_{len(scene.entries)}", size)),
    "late": leave_a_call_open,
    "think": think,
    "show": show_images,
    "compact": lambda scene, _size: scene.compact(),
    "work": lambda scene, _size: scene.work(),
    "undo": undo_newest,
    "redo": redo,
    "move": move_back,
    "pin": lambda scene, _size: scene.pin(5),
}


def view_of(store: Store, scene: Scene, format_name: str) -> Any:
    """The view with stubs, or the error's class."""
    try:
        with store.read() as tx:
            found = view(tx, scene.tenant, scene.id, format_name=format_name, stub_open=True)
    except REFUSED as error:
        return type(error)
    rendered = FORMATS[format_name].render(found.messages, None)
    return rendered.messages, rendered.lossy, found.used, found.open_calls, found.shown.reasoning


def answer_of(store: Store, scene: Scene, format_name: str, kept: SentViews) -> Any:
    """The answer to a request for the view, or the error's class."""
    try:
        with store.read() as tx:
            return loads(kept.read(tx, scene.tenant, scene.id, format_name).body)
    except REFUSED as error:
        return type(error)


def messages_of(store: Store, scene: Scene, format_name: str, kept: SentViews) -> Any:
    """The messages of a request of the gateway, or the error's class."""
    try:
        with store.read() as tx:
            path = paths.open_head(tx, scene.tenant, scene.id)
            return [loads(wire) for wire in kept.messages_at(tx, path, format_name)]
    except REFUSED as error:
        return type(error)


def made_anew(store: Store, scene: Scene, format_name: str) -> tuple[Any, Any]:
    """The answer and the messages, without what one view takes over from another; or the error's class twice."""
    try:
        with store.read() as tx:
            found = view(tx, scene.tenant, scene.id, format_name=format_name)
    except REFUSED as error:
        return type(error), type(error)
    session, render = found.path.session, FORMATS[format_name].render
    rendered = render(found.messages, session.system, session.model)
    answer = {"messages": rendered.messages, **view_fields(found, rendered.lossy)}
    return answer, render(found.messages, None, session.model).messages


@pytest.mark.timeout(600)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 900)), min_size=5, max_size=30),
    st.sampled_from(SIZES),
)
def test_views_are_those_of_a_process_that_keeps_nothing(steps: list[tuple[str, int]], most_bytes: int) -> None:
    known, kept = KnownEntries(most_bytes), SentViews(most_bytes)
    with sqlite_database() as url, open_store(url) as store, open_store(url, known=known) as keeping:
        scene = Scene(store, 8_000)
        scene.append(user(10))
        for name, size in steps:
            with suppress(*REFUSED):
                STEPS[name](scene, size)
                event(name)
            for format_name in FORMATS:
                assert view_of(keeping, scene, format_name) == view_of(store, scene, format_name)
                anew, messages_anew = made_anew(store, scene, format_name)
                assert answer_of(keeping, scene, format_name, kept) == anew
                # The second is the one that was kept.
                assert answer_of(keeping, scene, format_name, kept) == anew
                assert messages_of(keeping, scene, format_name, kept) == messages_anew
        assert known.size <= most_bytes
