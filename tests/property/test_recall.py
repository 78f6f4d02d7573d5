"""In any session with branches, a recall finds a text if and only if it is on the path in use and out of view."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from hypothesis import event, given
from hypothesis import strategies as st

from foldline.log.errors import Conflict, RedoSuperseded
from foldline.log.storage import entry_log, paths
from foldline.log.use_cases.finding.recall import RecallRequest, recall
from tests.support.log.sessions import Scene, Wire, calls, open_store, words
from tests.support.processes.databases import sqlite_database

LETTERS = str.maketrans("0123456789", "abcdfghjkm")
# What happens in turn: an append of so many tokens, or something with the entry that a number chooses.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("say", "say", "call", "fold", "hide", "move", "move", "undo", "redo", "work")),
        st.integers(0, 99),
    ),
    min_size=8,
    max_size=20,
)


class Life:
    """A session in which each message has a word of its own, by the id of its entry."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.words: dict[str, str] = {}
        self._numbers = count(1)

    def step(self, act: str, number: int) -> None:
        scene = self.scene
        match act:
            case "say":
                self._append({"role": "user", "content": self._text(5 + 4 * number)})
            case "call":
                call = f"c{next(self._numbers)}"
                answer = {"role": "tool", "tool_call_id": call, "content": self._text(5 + 4 * number)}
                self._append({**calls(call), "content": self._text(3)}, answer)
            case "fold" | "hide":
                scene.compact(target_tokens=150, summarize=None if act == "fold" else False)
            case "move" if self.words:
                scene.move(sorted(self.words)[number % len(self.words)])
            case "undo" if scene.live:
                scene.undo(scene.live[number % len(scene.live)])
            case "redo":
                _redo(scene)
            case "work":
                scene.work()

    def _text(self, tokens: int) -> str:
        # In letters alone, as a number would be a term of its own.
        letters = str(next(self._numbers)).translate(LETTERS)
        return f"mark{letters}x" + words(tokens)

    def _append(self, *messages: Wire) -> None:
        ids = self.scene.append(*messages).entry_ids
        self.words |= {name: message["content"].split()[0] for name, message in zip(ids, messages, strict=True)}

    def found(self, word: str) -> list[str]:
        """The ids of the entries that a recall of a word finds."""
        scene = self.scene
        answer = recall(scene.store, scene.tenant, scene.id, RecallRequest(word, 2_000))
        return [passage.source.entry_id for passage in answer.quotes.passages]

    def out_of_view(self) -> set[str]:
        """The ids of the entries on the path that the view does not show whole, by the view's own text."""
        with self.scene.store.read() as tx:
            cells = entry_log.live_edits(tx, paths.open_head(tx, self.scene.tenant, self.scene.id)).cells
        # An interim summary may have the words of what it stands for, below a text of its own.
        messages = self.scene.wire(must_fit=False)
        shown = {
            text.split()[0] for message in messages if isinstance(text := message["content"], str) and text.split()
        }
        return {
            name
            for name in self.scene.entries
            if name in self.words and (self.words[name] not in shown or int(name.partition("-")[2]) in cells)
        }


def _redo(scene: Scene) -> None:
    try:
        scene.redo()
    except (Conflict, RedoSuperseded):
        return


@contextmanager
def life() -> Iterator[Life]:
    with sqlite_database() as url, open_store(url) as store:
        yield Life(Scene(store))


@given(STEPS)
def test_a_text_is_found_if_it_is_out_of_view_on_the_path_in_use(steps: list[tuple[str, int]]) -> None:
    with life() as lived:
        for act, number in steps:
            lived.step(act, number)
        hidden = lived.out_of_view()
        event(f"branches: {lived.scene.path.session.branches}, out of view: {bool(hidden)}")
        for name, word in lived.words.items():
            assert lived.found(word) == ([name] if name in hidden else [])
