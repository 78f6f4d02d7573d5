"""Signed reasoning in views: shown exactly where all before it is what the model saw when it wrote it.

The checker signs as a provider does, over the request as it is sent, and knows nothing of how views are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.overflow import verdict_of
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction.usage import Usage
from foldline.log.errors import CannotShrink, Conflict, RedoSuperseded
from foldline.log.storage import paths
from foldline.log.use_cases import lifecycle, overflow, pins, views
from tests.support.dialects import DIALECTS, Dialect
from tests.support.log.sessions import TENANT, Clock, Scene, Wire, open_store, words
from tests.support.processes.databases import sqlite_database

SIZES = st.sampled_from((1, 12, 40, 90))
CHOICES = st.integers(0, 99)
REFUSAL = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation"
)


class Request(dict[str, Any]):
    """A request as a provider gets it: model, system prompt, tools and messages."""

    def signature_of(self, number: int) -> str:
        """The signature of reasoning in the message with this number: a digest of all before it."""
        before = {**self, "messages": self["messages"][:number]}
        return hashlib.sha256(json.dumps(before, sort_keys=True).encode()).hexdigest()


MODELS = st.sampled_from(tuple(DIALECTS))
# What may happen between a view and the answer to it: a summary is published; edits come and go; something else is said
# or changed, after which nobody knows what the model saw.
PUBLISHED = ("publish",)
EDITED = ("undo", "redo", "compact")
CHANGED = ("ask", "pin", "unpin", "instruct", "change_model_and_back")


class Reasoning(RuleBasedStateMachine):
    """An agent that reads views, has a model write signed reasoning, and does all else a client can do."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        url = self._stack.enter_context(sqlite_database())
        store = self._stack.enter_context(open_store(url, clock=Clock()))
        self._numbers = count(1)
        # The signature of each answer, by its text.
        self.signatures: dict[str, str] = {}
        # Those of which nobody knows what the model saw, and those that were refused.
        self.excused: set[str] = set()
        self.unseen: set[str] = set()
        self._store = store
        self.open_calls: list[str] = []
        self.pins: list[str] = []

    def teardown(self) -> None:
        self._stack.close()

    @initialize(limit=st.sampled_from((500, 1_000)), preset=st.sampled_from(tuple(PRESETS)), model=MODELS)
    def begin(self, limit: int, preset: str, model: str) -> None:
        self.scene = Scene(self._store, limit, policy={"preset": preset})
        self.model = model
        self._change(model=model)
        self._say("begin")

    @property
    def dialect(self) -> Dialect:
        """How the session's model speaks."""
        return DIALECTS[self.model]

    def _say(self, text: str) -> None:
        self._append([{"role": "user", "content": text}], format_name="openai")

    def request(self) -> Request | None:
        """What the agent sends to its model; None if there is no view."""
        with self._store.read() as tx:
            try:
                view = views.view(tx, TENANT, self.scene.id, format_name=self.dialect.name, stub_open=True)
            except ViewDoesNotFit:
                return None
        session = view.path.session
        rendered = FORMATS[self.dialect.name].render(view.messages, session.system, session.model)
        left_out = view.shown.reasoning.parts_left_out
        assert left_out.get("unknown_view", 0) <= len(self.unseen)
        assert not left_out.get("refused") or self.excused
        self.version = session.version
        return Request(model=session.model, system=rendered.system, tools=session.tools, messages=rendered.messages)

    def _append(self, messages: list[Wire], usage: Usage | None = None, format_name: str | None = None) -> None:
        self.scene.append(*messages, format_name=format_name or self.dialect.name, usage=usage)

    def _is_published(self) -> bool:
        """Whether a summary was published since the last message: then only its version says which view a model saw."""
        last, records = self.scene.path.last_message_seq, self.scene.records
        return any(record.seq > last and not record.body.get("is_inline", True) for record in records)

    def _change(self, **changes: Any) -> None:
        with self._store.write() as tx:
            lifecycle.change(tx, TENANT, self.scene.id, changes)

    @precondition(lambda self: not self.open_calls)
    @rule(size=SIZES)
    def ask(self, size: int) -> None:
        self._say(f"ask {next(self._numbers)} {words(size)}")

    @precondition(lambda self: not self.open_calls)
    @rule(
        size=SIZES,
        calls=st.integers(0, 2),
        meanwhile=st.sampled_from(("", "", "", *PUBLISHED, *PUBLISHED, *EDITED, *CHANGED)),
        says_so=st.booleans(),
    )
    def answer(self, size: int, calls: int, meanwhile: str, *, says_so: bool) -> None:
        """An answer to a view; its caller says which view that was wherever he has to."""
        request = self.request()
        if request is None or request["messages"][-1].get("role", "user") != "user":
            return
        version = self.version
        text = f"answer {next(self._numbers)}"
        self.signatures[text] = request.signature_of(len(request["messages"]))
        ids = [f"toolu_{next(self._numbers)}" for _ in range(calls)]
        answer = self.dialect.answer(text, words(size), self.signatures[text], [(name, words(size)) for name in ids])
        speaker = self.dialect
        if meanwhile:
            self._do(meanwhile)
        is_changed = meanwhile in CHANGED and self.scene.path.session.version > version
        says_so = says_so or meanwhile in (*EDITED, *CHANGED)
        if is_changed or (self._is_published() and not says_so):
            self.unseen.add(text)
        self._append(answer, Usage(version, 0) if says_so else None, speaker.name)
        self.open_calls = self._open_calls()

    @precondition(lambda self: not self.open_calls)
    @rule(turns=st.integers(2, 4), size=SIZES)
    def talk(self, turns: int, size: int) -> None:
        """Turns of questions and answers as one step, so that there is something to keep."""
        for _ in range(turns):
            self.ask(size)
            self.answer(size, 0, "", says_so=True)

    def _do(self, what: str) -> None:
        """What happens while the model works."""
        actions: Mapping[str, Callable[[], object]] = {
            "publish": self.work,
            "undo": lambda: self.scene.live and self.scene.undo(self.scene.live[-1]),
            "redo": self.redo,
            "compact": lambda: self.scene.compact(summarize=False),
            "ask": lambda: self._say(f"meanwhile {next(self._numbers)}"),
            "pin": lambda: len(self.pins) < 2 and self.pin(),
            "unpin": lambda: self.pins and self.unpin(),
            "instruct": lambda: self._change(system=f"Be {next(self._numbers)}."),
            "change_model_and_back": self._change_model_and_back,
        }
        actions[what]()

    def _change_model_and_back(self) -> None:
        self._change(model="anthropic/claude-haiku-4-5")
        self._change(model=self.model)

    def _open_calls(self) -> list[str]:
        with self._store.read() as tx:
            return paths.open_head(tx, TENANT, self.scene.id).open_calls

    @precondition(lambda self: self.open_calls)
    @rule(size=SIZES)
    def give_results(self, size: int) -> None:
        self._append(self.dialect.results([(name, words(size * 2)) for name in self.open_calls]))
        self.open_calls = []

    @rule(goal=st.sampled_from((None, 0.3, 0.6)), summarize=st.booleans())
    def compact(self, goal: float | None, *, summarize: bool) -> None:
        target = None if goal is None else int(self.scene.limit * goal)
        self.scene.compact(target_tokens=target, summarize=summarize)

    @rule()
    def work(self) -> None:
        self.scene.work()

    @precondition(lambda self: self.scene.live)
    @rule(choice=CHOICES)
    def undo(self, choice: int) -> None:
        live = self.scene.live
        self.scene.undo(live[choice % len(live)])

    @rule()
    def redo(self) -> None:
        try:
            self.scene.redo()
        except (Conflict, RedoSuperseded):
            return

    @precondition(lambda self: not self.open_calls)
    @rule(choice=CHOICES)
    def move(self, choice: int) -> None:
        ids = [name for name in self.scene.entries if name.startswith("e")]
        self.scene.move(ids[choice % len(ids)])
        self.open_calls = self._open_calls()

    @precondition(lambda self: len(self.pins) < 2)
    @rule()
    def pin(self) -> None:
        with self._store.write() as tx:
            self.pins.append(pins.add(tx, TENANT, self.scene.id, text=f"keep {next(self._numbers)}")[0].id)

    @precondition(lambda self: self.pins)
    @rule()
    def unpin(self) -> None:
        with self._store.write() as tx:
            pins.remove(tx, TENANT, self.scene.id, self.pins.pop())

    @rule(system=st.sampled_from((None, "Be brief.", "Be kind.")))
    def instruct(self, system: str | None) -> None:
        self._change(system=system)

    @rule(model=MODELS)
    def change_model(self, model: str) -> None:
        self.model = model
        self._change(model=model)

    @rule()
    def refuse(self) -> None:
        self.excused |= set(self.signatures)
        with self._store.write() as tx:
            version = paths.open_head(tx, TENANT, self.scene.id).session.version
            with suppress(CannotShrink):
                overflow.relieve(tx, TENANT, self.scene.id, verdict_of(REFUSAL), version=version)
        request = self.request()
        answers = self.dialect.answers(request["messages"]) if request else ()
        assert not any(answer.is_reasoned for answer in answers)

    @invariant()
    def reasoning_is_shown_where_it_is_valid(self) -> None:
        request = self.request() if hasattr(self, "scene") else None
        for number, text, is_reasoned in self.dialect.answers(request["messages"]) if request else ():
            if request is None or text not in self.signatures:
                continue
            is_valid = self.signatures[text] == request.signature_of(number)
            assert not is_reasoned or is_valid, f"{text} is shown after another prefix"
            is_excused = text in self.excused | self.unseen
            assert is_reasoned or not is_valid or is_excused, f"{text} is left out though its prefix stands"
            assert not is_reasoned or text not in self.unseen, f"nobody knows what {text} is bound to"


TestReasoning = pytest.mark.timeout(1_800)(Reasoning.TestCase)
