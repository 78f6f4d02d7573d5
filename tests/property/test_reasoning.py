"""Signed reasoning in views: shown exactly where all before it is what the model saw when it wrote it.

The checker signs as a provider does, over the request as it is sent, and knows nothing of how views are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any, ClassVar, NamedTuple, Protocol

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.overflow import verdict_of
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction.usage import Usage
from foldline.log.errors import CannotShrink, Conflict, RedoSuperseded
from foldline.log.storage import paths
from foldline.log.use_cases import lifecycle, overflow, pins, views
from tests.support.log.sessions import TENANT, Clock, Scene, Wire, open_store, words
from tests.support.processes.databases import sqlite_database
from tests.support.responses_items import missing_reasoning

SIZES = st.sampled_from((1, 12, 40, 90))
CHOICES = st.integers(0, 99)
MODELS = ("openai/gpt-4o", "openai/gpt-4o-mini")
REFUSAL = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation"
)


class Dialect(Protocol):
    """How a provider's messages say what a turn consists of."""

    name: str

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        """A model's answer, signed reasoning first; `calls` are ids and what to do."""
        ...

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        """The results of calls, by their ids."""
        ...

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        """The answers in a request."""
        ...


class Answer(NamedTuple):
    """An answer in a request: where it begins, its text, and whether its reasoning is there."""

    number: int
    text: str
    is_reasoned: bool


class Anthropic:
    """Messages of content blocks."""

    name = "anthropic"

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        thinking = {"type": "thinking", "thinking": thought, "signature": signature}
        tools = [{"type": "tool_use", "id": name, "name": "run", "input": {"do": do}} for name, do in calls]
        return [{"role": "assistant", "content": [thinking, {"type": "text", "text": text}, *tools]}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        blocks = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in results]
        return [{"role": "user", "content": blocks}]

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        for number, message in enumerate(messages):
            content = message["content"]
            if message["role"] == "assistant" and not isinstance(content, str):
                text = next((block["text"] for block in content if block["type"] == "text"), "")
                yield Answer(number, text, any(block["type"] == "thinking" for block in content))


class Responses:
    """A flat list of items, with ids that name the reasoning that led to them."""

    name = "responses"

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        said = [{"type": "output_text", "text": text}]
        return [
            {"type": "reasoning", "id": f"rs_{text}", "summary": [], "encrypted_content": signature},
            {"type": "message", "id": f"it_{text}", "role": "assistant", "content": said, "note": thought},
            *(
                {"type": "function_call", "call_id": name, "name": "run", "arguments": json.dumps({"do": do})}
                for name, do in calls
            ),
        ]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        return [{"type": "function_call_output", "call_id": name, "output": text} for name, text in results]

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        assert check(self.name, list(messages), None) == []
        assert missing_reasoning(messages) == []
        for number, item in enumerate(messages):
            if item.get("role") == "assistant":
                is_reasoned = messages[number - 1].get("type") == "reasoning"
                yield Answer(number - is_reasoned, item["content"][0]["text"], is_reasoned)


class Request(dict[str, Any]):
    """A request as a provider gets it: model, system prompt, tools and messages."""

    def signature_of(self, number: int) -> str:
        """The signature of reasoning in the message with this number: a digest of all before it."""
        before = {**self, "messages": self["messages"][:number]}
        return hashlib.sha256(json.dumps(before, sort_keys=True).encode()).hexdigest()


class Reasoning(RuleBasedStateMachine):
    """An agent that reads views, has a model write signed reasoning, and does all else a client can do."""

    dialect: ClassVar[Dialect] = Anthropic()

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
        self._store = store
        self.open_calls: list[str] = []
        self.pins: list[str] = []

    def teardown(self) -> None:
        self._stack.close()

    @initialize(limit=st.sampled_from((500, 1_000)), preset=st.sampled_from(tuple(PRESETS)))
    def begin(self, limit: int, preset: str) -> None:
        self.scene = Scene(self._store, limit, policy={"preset": preset})
        self._append([{"role": "user", "content": "begin"}])

    def request(self) -> Request | None:
        """What the agent sends to its model; None if there is no view."""
        with self._store.read() as tx:
            try:
                view = views.view(tx, TENANT, self.scene.id, stub_open=True)
            except ViewDoesNotFit:
                return None
        session = view.path.session
        rendered = FORMATS[self.dialect.name].render(view.messages, session.system)
        self.version = session.version
        return Request(model=session.model, system=rendered.system, tools=session.tools, messages=rendered.messages)

    def _append(self, messages: list[Wire], usage: Usage | None = None) -> None:
        self.scene.append(*messages, format_name=self.dialect.name, usage=usage)

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
        self._append([{"role": "user", "content": f"ask {next(self._numbers)} {words(size)}"}])

    @precondition(lambda self: not self.open_calls)
    @rule(
        size=SIZES, calls=st.integers(0, 2), meanwhile=st.sampled_from(("", "", "", "publish", "publish, and say so"))
    )
    def answer(self, size: int, calls: int, meanwhile: str) -> None:
        request = self.request()
        if request is None or request["messages"][-1].get("role", "user") != "user":
            return
        version = self.version
        text = f"answer {next(self._numbers)}"
        self.signatures[text] = request.signature_of(len(request["messages"]))
        ids = [f"toolu_{next(self._numbers)}" for _ in range(calls)]
        answer = self.dialect.answer(text, words(size), self.signatures[text], [(name, words(size)) for name in ids])
        if meanwhile:
            self.work()
        says_so = "say so" in meanwhile
        if self._is_published() and not says_so:
            self.excused.add(text)
        usage = Usage(version, 0) if says_so else None
        self._append(answer, usage)
        self.open_calls = ids

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
        with self._store.read() as tx:
            self.open_calls = paths.open_head(tx, TENANT, self.scene.id).open_calls

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

    @rule(model=st.sampled_from(MODELS))
    def change_model(self, model: str) -> None:
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
            assert is_reasoned or not is_valid or text in self.excused, f"{text} is left out though its prefix stands"


class ReasoningItems(Reasoning):
    """The same in the format whose items name the reasoning that led to them."""

    dialect = Responses()


TestReasoning = pytest.mark.timeout(1_800)(Reasoning.TestCase)
TestReasoningItems = pytest.mark.timeout(1_800)(ReasoningItems.TestCase)
