"""Blocks of a provider's own compaction in views, and the reasoning around them, against a provider that checks both.

The checker takes a block for the messages that it was made of, as the provider does, and knows nothing of how views are
made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.overflow import verdict_of
from foldline.engine.policies.presets import PRESETS
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.tokens.counter import count_messages
from foldline.engine.wording import stub_tokens
from foldline.log.compaction.usage import Usage
from foldline.log.errors import CannotShrink, Conflict, RedoSuperseded
from foldline.log.jobs import endings, publish
from foldline.log.jobs.leases import Claim
from foldline.log.storage import paths
from foldline.log.use_cases import lifecycle, overflow, pins, views
from tests.support.log.sessions import TENANT, Clock, Scene, Wire, open_store, words
from tests.support.processes.databases import sqlite_database

FORMAT = "anthropic"
MODELS = ("anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5", "anthropic/claude-haiku-4-5")
SIZES = st.sampled_from((1, 12, 60, 120))
CHOICES = st.integers(0, 99)
REFUSAL = "messages.1.content.0: Invalid `signature` in `thinking` block"


def digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


class Provider:
    """Makes blocks, and takes each for the messages it was made of, after the same model, system prompt and tools.

    `made` maps signatures to blocks, what came before all messages, and messages.
    """

    def __init__(self) -> None:
        self.made: dict[str, tuple[Wire, list[Any], list[Wire]]] = {}

    def block(self, fixed: list[Any], messages: list[Wire]) -> Wire:
        signature = f"block {len(self.made)}"
        block = {"type": "compaction", "content": f"gist of {len(messages)}", "signature": signature}
        self.made[signature] = block, fixed, messages
        return block

    def forms(self, fixed: list[Any], messages: list[Wire]) -> Iterator[list[Wire]]:
        """The messages, and those that they stand for, each with one block less."""
        yield messages
        for number, message in enumerate(messages):
            for position, part in enumerate(parts(message)):
                if part["type"] == "compaction":
                    assert (number, position) == (0, 0), "a block is not the first"
                    block, its_fixed, before = self.made[part["signature"]]
                    assert part == block
                    assert fixed[0] == its_fixed[0], "a block is shown to another model"
                    assert len(message["content"]) == 1
                    yield from self.forms(fixed, [*before, *messages[1:]]) if fixed == its_fixed else ()


def parts(message: Wire) -> list[Wire]:
    content = message["content"]
    return content if isinstance(content, list) else []


def answers(messages: list[Wire]) -> Iterator[tuple[int, str, bool]]:
    """The answers of the model: where each is, its text, and whether it has its reasoning."""
    for number, message in enumerate(messages):
        text = next((part["text"] for part in parts(message) if part["type"] == "text"), "")
        if message["role"] == "assistant" and text.startswith("answer "):
            yield number, text, any(part["type"] == "thinking" for part in parts(message))


class Blocks(RuleBasedStateMachine):
    """An agent whose sessions its model's provider compacts, and which does all else a client can do."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        url = self._stack.enter_context(sqlite_database())
        self.store = self._stack.enter_context(open_store(url, clock=Clock()))
        self.store.limits = replace(self.store.limits, compactors=frozenset({"anthropic"}))
        self.provider = Provider()
        self.numbers = count(1)
        # What each answer's reasoning is bound to.
        self.bound: dict[str, str] = {}
        self.excused: set[str] = set()
        self.open_calls: list[str] = []
        self.pins: list[str] = []

    def teardown(self) -> None:
        self._stack.close()

    @initialize(limit=st.sampled_from((1_500, 4_000)), preset=st.sampled_from(tuple(PRESETS)), is_plain=st.booleans())
    def begin(self, limit: int, preset: str, *, is_plain: bool) -> None:
        stages = {"stages": ["summarize", "truncate"]} if is_plain else {}
        self.scene = Scene(self.store, limit, policy={"preset": preset, "summarizer": "provider", **stages})
        self.change(model=MODELS[0])
        self.append({"role": "user", "content": "begin"})

    def append(self, message: Wire, usage: Usage | None = None) -> None:
        self.scene.append(message, format_name=FORMAT, usage=usage)

    def change(self, **changes: Any) -> None:
        with self.store.write() as tx:
            lifecycle.change(tx, TENANT, self.scene.id, changes)

    def view(self) -> tuple[list[Any], list[Wire], int] | None:
        """What comes before all messages, the messages, and the version of the view; None if there is none."""
        with self.store.read() as tx:
            try:
                view = views.view(tx, TENANT, self.scene.id, format_name=FORMAT, stub_open=True)
            except ViewDoesNotFit:
                return None
        session = view.path.session
        most = view.path.kept + session.pins_tokens + stub_tokens() * len(view.open_calls)
        assert count_messages(view.messages) <= most, "the view takes more than is counted"
        rendered = FORMATS[FORMAT].render(view.messages, session.system, session.model)
        assert check(FORMAT, rendered.messages, rendered.system) == []
        has_block = any(part["type"] == "compaction" for message in rendered.messages for part in parts(message))
        assert bool(view.shown.request_headers) == has_block
        return [session.model, rendered.system, session.tools], rendered.messages, session.version

    @precondition(lambda self: not self.open_calls)
    @rule(size=SIZES)
    def ask(self, size: int) -> None:
        self.append({"role": "user", "content": f"ask {next(self.numbers)} {words(size)}"})

    @precondition(lambda self: not self.open_calls)
    @rule(size=SIZES, calls=st.integers(0, 2), meanwhile=st.booleans(), repeats_ids=st.booleans())
    def answer(self, size: int, calls: int, *, meanwhile: bool, repeats_ids: bool = False) -> None:
        seen = self.view()
        if seen is None or seen[1][-1]["role"] == "assistant":
            return
        fixed, messages, version = seen
        text = f"answer {next(self.numbers)}"
        self.bound[text] = digest(fixed, messages)
        # Some clients count their calls anew in each turn; views write such ids in another way.
        ids = [f"call_{number}" if repeats_ids else f"toolu_{next(self.numbers)}" for number in range(calls)]
        if meanwhile:
            self.work(declines=False)
        content = [
            {"type": "thinking", "thinking": words(size), "signature": self.bound[text]},
            {"type": "text", "text": text},
            *({"type": "tool_use", "id": name, "name": "run", "input": {"do": words(size)}} for name in ids),
        ]
        self.append({"role": "assistant", "content": content}, Usage(version, 0))
        self.open_calls = ids

    @precondition(lambda self: not self.open_calls)
    @rule()
    def instruct_in_place(self) -> None:
        """A question with a system message after it, which the format keeps only in some places."""
        self.append({"role": "user", "content": f"ask {next(self.numbers)}"})
        self.append({"role": "system", "content": "Be careful."})

    @precondition(lambda self: not self.open_calls)
    @rule(turns=st.integers(3, 6), size=SIZES)
    def talk(self, turns: int, size: int) -> None:
        """Turns of questions and answers, as one step: blocks cover the turns before the last one."""
        for _ in range(turns):
            self.ask(size)
            self.answer(size, 0, meanwhile=False)

    @precondition(lambda self: self.open_calls)
    @rule(size=SIZES)
    def give_results(self, size: int) -> None:
        results = [{"type": "tool_result", "tool_use_id": name, "content": words(size * 2)} for name in self.open_calls]
        self.append({"role": "user", "content": results})
        self.open_calls = []

    @rule(summarize=st.booleans())
    def compact(self, *, summarize: bool) -> None:
        self.scene.compact(summarize=summarize)

    @rule()
    def fold(self) -> None:
        """What a caller does who waits for the summary."""
        self.scene.compact(summarize=True)
        self.work(declines=False)

    @rule(declines=st.sampled_from((False, False, False, True)))
    def work(self, *, declines: bool) -> None:
        """Do the jobs there are, those of the provider by a call of it."""
        for _ in range(100):
            claim = self.scene.claim()
            if claim is None:
                return
            self.do(claim, declines=declines)
        pytest.fail("summaries never end")

    def do(self, claim: Claim, *, declines: bool) -> None:
        call = claim.request.provider
        if call is None:
            self.scene.publish(claim)
        elif declines:
            endings.decline(self.store, claim, "it is overloaded")
        else:
            sent = [dict(message) for message in call.messages]
            with self.store.read() as tx:
                model = paths.open_head(tx, TENANT, self.scene.id).session.model
            assert not {part["id"] for part in parts(sent[-1]) if part["type"] == "tool_use"}, "calls are open"
            fixed = [model, call.system, list(call.tools)]
            block = self.provider.block(fixed, sent)
            self.judge(fixed, sent, may_lack=True)
            draft = SummaryDraft(
                block["content"],
                degraded=False,
                summarizer="anthropic",
                model=call.model,
                block=({"role": "assistant", "content": [block]},),
            )
            publish.publish(self.store, claim, draft)

    @precondition(lambda self: self.scene.live)
    @rule(choice=CHOICES)
    def undo(self, choice: int) -> None:
        live = self.scene.live
        self.scene.undo(live[choice % len(live)])

    @rule()
    def redo(self) -> None:
        with suppress(Conflict, RedoSuperseded):
            self.scene.redo()

    @precondition(lambda self: not self.open_calls)
    @rule(choice=CHOICES)
    def move(self, choice: int) -> None:
        ids = [name for name in self.scene.entries if name.startswith("e")][-8:]
        self.scene.move(ids[choice % len(ids)])
        with self.store.read() as tx:
            self.open_calls = paths.open_head(tx, TENANT, self.scene.id).open_calls

    @precondition(lambda self: not self.pins)
    @rule()
    def pin(self) -> None:
        with self.store.write() as tx:
            self.pins.append(pins.add(tx, TENANT, self.scene.id, text=f"keep {next(self.numbers)}")[0].id)

    @precondition(lambda self: self.pins)
    @rule()
    def unpin(self) -> None:
        with self.store.write() as tx:
            pins.remove(tx, TENANT, self.scene.id, self.pins.pop())

    @rule(system=st.sampled_from((None, "Be brief.")))
    def instruct(self, system: str | None) -> None:
        self.change(system=system)

    @rule(model=st.sampled_from(MODELS))
    def change_model(self, model: str) -> None:
        self.change(model=model)

    @rule()
    def refuse(self) -> None:
        self.excused |= set(self.bound)
        with self.store.write() as tx, suppress(CannotShrink):
            version = paths.open_head(tx, TENANT, self.scene.id).session.version
            overflow.relieve(tx, TENANT, self.scene.id, verdict_of(REFUSAL), version=version)

    @invariant()
    def reasoning_is_shown_where_it_is_valid(self) -> None:
        seen = self.view() if hasattr(self, "scene") else None
        if seen is not None:
            self.judge(*seen[:2])

    def judge(self, fixed: list[Any], messages: list[Wire], *, may_lack: bool = False) -> None:
        """Check all reasoning in a request; with `may_lack`, only what is there."""
        for number, text, is_reasoned in answers(messages):
            prefixes = [digest(fixed, form) for form in self.provider.forms(fixed, messages[:number])]
            is_valid = self.bound[text] in prefixes
            assert not is_reasoned or is_valid, f"{text} is shown after another prefix"
            # After a refusal that was undone, nobody looks at what reasoning a block stands for.
            is_after_refusal = bool(self.excused) and any(part["type"] == "compaction" for part in parts(messages[0]))
            is_excused = may_lack or is_after_refusal or text in self.excused
            assert is_reasoned or not is_valid or is_excused, f"{text} is left out though its prefix stands"


TestBlocks = pytest.mark.timeout(1_800)(Blocks.TestCase)
