"""Interleavings of all operations of clients and workers on a session, on a real database, against the reference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.policies.policy import policy_of, to_json
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.errors import NotFound, StaleVersion, UnknownEntry, UnknownParent
from foldline.log.storage import paths
from foldline.log.storage.store import Limits
from foldline.log.use_cases import append, branches, lifecycle, pins, undo
from foldline.log.use_cases.lifecycle import NewSession
from tests.support.log.invariants import INVARIANTS, newest_job
from tests.support.log.pair import SESSION, Held, Pair
from tests.support.log.reference import Reference, reachable
from tests.support.log.reference_parts import Entry, ReferenceRequest, placed
from tests.support.log.sessions import TENANT, Clock, Wire, open_store, words
from tests.support.processes.databases import sqlite_database

LIMITS = Limits(lease_seconds=60, retry_seconds=40, max_attempts=2, summarizer_tokens=250, summarizer_calls=1)

ANYTHING = FORMATS["openai"].parse([{"role": "user", "content": "anything"}])

SIZES = st.sampled_from((1, 12, 40, 90))
CHOICES = st.integers(0, 99)
QUEUES = st.sampled_from((INTERACTIVE, BACKGROUND))
POLICIES = st.sampled_from(
    (
        {},
        {"keep_recent": 0.05, "summary_share": 0.1},
        {"trigger": 0.95, "target": 0.8},
        {"stages": ["prune", "summarize"]},
        {"stages": [{"name": "microcompact", "keep_results": 2}, {"name": "strip"}, "summarize", "truncate"]},
        *({"preset": preset} for preset in PRESETS),
        {"preset": "neurolink", "keep_recent": 0.05, "stages": [{"name": "summarize", "keep_share": 0.1}, "truncate"]},
    )
)
# Whether the branch that is left is summarized, and how.
LEAVING = st.sampled_from(
    (
        None,
        None,
        ReferenceRequest(is_asked=True),
        ReferenceRequest(is_asked=True),
        ReferenceRequest(is_asked=True, instructions="keep the names"),
    )
)
DRAFTS = st.sampled_from(("short", "short", "full", "blank", "too long"))


CHANGED = {"b.py", "c.py"}


def _call(call_id: str, argument_words: int, path: str | None) -> Wire:
    tool = "edit_file" if path in CHANGED else "read_file"
    name, value = (tool, {"path": path}) if path else ("bash", {"command": words(argument_words)})
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(value)}}


def _draft(kind: str, max_tokens: int) -> str:
    texts = {"short": "Folded.", "full": words(max_tokens), "blank": " ", "too long": words(max_tokens + 1)}
    return texts[kind]


class Log(RuleBasedStateMachine):
    """Each rule does one thing to the session and to the reference; the invariants compare them after it."""

    def __init__(self) -> None:
        super().__init__()
        self.cleanup = ExitStack()
        url = self.cleanup.enter_context(self.new_database())
        self.clock = Clock()
        self.store = self.cleanup.enter_context(open_store(url, limits=LIMITS, clock=self.clock))
        self.said = 0
        self.calls: list[str] = []
        self.by_version: dict[int, list[Message]] = {}
        self.earlier: tuple[object, list[Message]] = (None, [])

    def teardown(self) -> None:
        self.cleanup.close()

    @initialize(window=st.sampled_from((700, 1_000, 2_000)), system=st.sampled_from((None, 20)), policy=POLICIES)
    def begin(self, window: int, system: int | None, policy: Wire) -> None:
        self.pair = Pair(self.store, self.clock, window, None if system is None else words(system), policy)
        with self.store.write() as tx:
            lifecycle.create(tx, "other", NewSession("test/model", SESSION, 900))
            append.append(tx, "other", SESSION, append.prepare(ANYTHING))

    def new_database(self) -> AbstractContextManager[str]:
        """The resources of the session; they are removed after the block."""
        return sqlite_database()

    # ---- short names ----

    @property
    def reference(self) -> Reference:
        return self.pair.reference

    @property
    def path(self) -> list[Entry]:
        return self.reference.path(self.reference.head)

    @property
    def messages(self) -> list[Entry]:
        return [entry for entry in self.path if entry.message is not None]

    @property
    def waiting(self) -> list[str]:
        return self.reference.open_calls(self.reference.head)

    def _text(self, count: int) -> str:
        """A text that is in no earlier message."""
        self.said += 1
        return f"m{self.said}" + words(count)

    def _user(self, count: int) -> Wire:
        return {"role": "user", "content": self._text(count)}

    def _assistant(self, count: int, calls: Sequence[Wire] = ()) -> Wire:
        message: Wire = {"role": "assistant", "content": self._text(count)}
        return {**message, "tool_calls": list(calls)} if calls else message

    def _result(self, call_id: str, count: int) -> Wire:
        return {"role": "tool", "tool_call_id": call_id, "content": self._text(count)}

    def _new_calls(self, count: int) -> list[str]:
        self.calls += [f"c{len(self.calls) + number}" for number in range(count)]
        return self.calls[-count:]

    # ---- appends ----

    @rule(count=SIZES, how=st.sampled_from(("plain", "newest message", "leaf", "if_match")))
    def ask(self, count: int, how: str) -> None:
        given: Wire = {}
        if how in {"newest message", "leaf"} and self.path:
            newest = self.messages[-1] if self.messages and how == "newest message" else self.path[-1]
            given = {"parent": newest.id}
        elif how == "if_match":
            given = {"if_match": self.pair.head.session.version}
        self.pair.append([self._user(count)], **given)

    @rule(count=st.sampled_from((None, 12, 90)))
    def say(self, count: int | None) -> None:
        self.pair.append([{"role": "assistant", "content": ""} if count is None else self._assistant(count)])

    @rule(turns=st.sampled_from((1, 2, 4, 8)), count=SIZES)
    def talk(self, turns: int, count: int) -> None:
        self.pair.append([message for _ in range(turns) for message in (self._user(count), self._assistant(count))])

    @rule(role=st.sampled_from(("developer", "system")), count=SIZES)
    def note(self, role: str, count: int) -> None:
        self.pair.append([{"role": role, "content": self._text(count)}])

    @rule(
        calls=st.integers(1, 3), argument=st.sampled_from((1, 40, 300)), count=SIZES, done=st.integers(0, 3),
        path=st.sampled_from((None, "a.py", "b.py", "c.py")), is_used_id=st.booleans(), is_reversed=st.booleans(),
    )  # fmt: skip
    def work_in_parallel(
        self, *, calls: int, argument: int, count: int, done: int, path: str | None, is_used_id: bool, is_reversed: bool
    ) -> None:
        ids = self._new_calls(calls)
        if is_used_id and "c0" not in ids:
            ids[0] = "c0"
        answered = (ids[::-1] if is_reversed else ids)[:done]
        head = self._assistant(3, [_call(call_id, argument, path) for call_id in ids])
        self.pair.append([head, *(self._result(call_id, count) for call_id in answered)])

    @rule(count=st.sampled_from((400, 900, 3_000)))
    def read_something_huge(self, count: int) -> None:
        (call_id,) = self._new_calls(1)
        self.pair.append([self._assistant(3, [_call(call_id, 1, None)]), self._result(call_id, count)])

    @rule(left=st.sampled_from((-2_000, -1, 30, 60, 90)))
    def ask_something_huge(self, left: int) -> None:
        """Append a message that leaves this many tokens of the budget, or that does not fit."""
        self.pair.append([self._user(max(1, self.reference.limit - self.reference.overhead - left))])

    @precondition(lambda self: self.waiting)
    @rule(choice=CHOICES, count=SIZES)
    def answer(self, choice: int, count: int) -> None:
        self.pair.append([self._result(self.waiting[choice % len(self.waiting)], count)])

    @rule(choice=CHOICES, count=SIZES)
    def answer_late_or_again(self, choice: int, count: int) -> None:
        known = [*self.calls[-4:], "unknown"]
        call_id, waiting = known[choice % len(known)], self.waiting
        self.pair.append([self._result(call_id, count)])
        assert len(self.waiting) == len(waiting) - (call_id in waiting), "a late result closed calls that wait"

    @rule(count=SIZES, has_text=st.booleans())
    def work_in_anthropic_format(self, *, count: int, has_text: bool) -> None:
        ids = self._new_calls(2)
        uses = [{"type": "tool_use", "id": call_id, "name": "bash", "input": {"n": 1}} for call_id in ids]
        answers: list[Wire] = [
            {"type": "tool_result", "tool_use_id": call_id, "content": self._text(count)} for call_id in ids
        ]
        text = [{"type": "text", "text": self._text(count)}] if has_text else []
        messages: list[Wire] = [{"role": "assistant", "content": uses}, {"role": "user", "content": answers + text}]
        self.pair.append(messages, "anthropic")

    @rule(count=SIZES, has_text=st.booleans(), are_equal=st.booleans())
    def work_in_gemini_format(self, *, count: int, has_text: bool, are_equal: bool) -> None:
        """Two calls of one function without ids, whose responses are known by their order alone."""
        calls = [{"functionCall": {"name": "bash", "args": {"n": number}}} for number in (1, 2)]
        texts = [self._text(count)] * 2 if are_equal else [self._text(count) for _ in calls]
        answers: list[Wire] = [{"functionResponse": {"name": "bash", "response": {"output": text}}} for text in texts]
        text = [{"text": self._text(count)}] if has_text else []
        self.pair.append([{"role": "model", "parts": calls}, {"role": "user", "parts": answers + text}], "gemini")

    @rule(
        percent=st.sampled_from((50, 110, 150, 300)), age=st.sampled_from((0, 0, 1, 5)), output=st.sampled_from((0, 20))
    )
    def report_usage(self, percent: int, age: int, output: int) -> None:
        counted = self.reference.outline(self.reference.head).tokens + self.reference.overhead
        version, reported = self.pair.head.session.version - age, max(1, counted * percent // 100)
        said = [self._assistant(12), self._user(1)] if output else [self._user(1)]
        self.pair.report(said, version=version, input_tokens=reported, output=output)
        learned = self.reference.multiplier
        assert 1_000 <= learned <= 2_000
        if counted and not age:
            assert abs(learned - max(1_000, min(2_000, percent * 10))) <= 1_000 // counted + 1

    # ---- what must be refused ----

    @rule(choice=CHOICES, what=st.sampled_from(("if_match", "parent", "compaction", "entry", "pin")))
    def ask_for_what_is_not_there(self, choice: int, what: str) -> None:
        before = self.pair.state()
        names = [entry.id for entry in reachable(self.reference) if not self.reference.is_parent(entry.id)]
        name = [*names, "e7-1", "nonsense"][choice % (len(names) + 2)]
        with pytest.raises((NotFound, StaleVersion, UnknownEntry, UnknownParent)):
            self._ask_for(what, name, self.pair.head.session.version - 1)
        assert self.pair.state() == before

    def _ask_for(self, what: str, name: str, version: int) -> None:
        drafts = append.prepare(ANYTHING)
        with self.store.write() as tx:
            match what:
                case "if_match":
                    append.append(tx, TENANT, SESSION, drafts, if_match=version)
                case "parent":
                    append.append(tx, TENANT, SESSION, drafts, parent=name)
                case "compaction":
                    undo.undo(tx, TENANT, SESSION, "e9-1")
                case "entry":
                    branches.move(tx, TENANT, SESSION, "e9-1")
                case _:
                    pins.remove(tx, TENANT, SESSION, "pin_0")

    # ---- the life of a compaction ----

    @rule(
        summarize=st.sampled_from((None, True, False)), goal=st.sampled_from((None, None, 60, 150)),
        stages=st.sampled_from((None, None, ["prune", "summarize"], ["truncate"], [])),
        instructions=st.sampled_from((None, None, "keep the names")), policy=st.none() | POLICIES,
    )  # fmt: skip
    def compact(
        self, *, summarize: bool | None, goal: int | None, stages: list[str] | None, instructions: str | None,
        policy: Wire | None,
    ) -> None:  # fmt: skip
        request = ReferenceRequest(is_asked=True, instructions=instructions, target_tokens=goal, policy=policy)
        self.pair.compact(request, stages=stages, summarize=summarize)

    @rule(queue=QUEUES)
    def claim(self, queue: str) -> None:
        self.pair.claim(queue)

    @precondition(lambda self: self.pair.held)
    @rule(choice=CHOICES, kind=DRAFTS)
    def publish_twice(self, choice: int, kind: str) -> None:
        held = self._held(choice)
        self._publish(held, kind)
        before = self.pair.state()
        self._publish(held, "short")
        assert self.pair.state() == before, "publishing twice is a no-op"

    @rule(queue=QUEUES, kind=DRAFTS, choice=CHOICES, meanwhile=st.sampled_from(("undo", "redo", "branch", "compact")))
    def publish_after_the_path_changed(self, queue: str, kind: str, choice: int, meanwhile: str) -> None:
        held = self.pair.claim(queue)
        if held is None:
            return
        if meanwhile == "undo" and self.pair.live:
            self.pair.undo(self.pair.live[choice % len(self.pair.live)])
        elif meanwhile == "redo":
            self.pair.redo()
        elif meanwhile == "branch":
            self.branch(choice, is_near=True)
        elif meanwhile == "compact":
            self.pair.append([self._user(90), self._assistant(40), self._user(12)])
            self.pair.compact(ReferenceRequest(is_asked=True, target_tokens=60), summarize=choice % 2 == 0)
        self._publish(held, kind)

    @rule(queue=QUEUES, kind=DRAFTS, then=st.sampled_from(("nothing", "claim", "cancel", "delete")))
    def publish_after_the_lease_was_lost(self, queue: str, kind: str, then: str) -> None:
        held = self.pair.claim(queue)
        if held is None:
            return
        if then == "cancel":
            self.pair.cancel(held.job)
        elif then == "delete":
            self.delete_and_create_again(2_000, 0)
        else:
            self.pair.sweep(100)
            if then == "claim":
                self.pair.claim(queue)
        self._publish(held, kind)

    @rule(queue=QUEUES, times=st.integers(1, 3), kind=st.sampled_from(("short", "full")))
    def summarize_at_once(self, queue: str, times: int, kind: str) -> None:
        for _ in range(times):
            self._work(queue, kind)

    @precondition(lambda self: self.pair.held)
    @rule(choice=CHOICES, what=st.sampled_from(("fail", "beat", "release")))
    def report(self, choice: int, what: str) -> None:
        getattr(self.pair, what)(self._held(choice))

    @precondition(lambda self: self.reference.jobs)
    @rule(choice=CHOICES)
    def cancel(self, choice: int) -> None:
        newest = self.reference.jobs[-4:]
        self.pair.cancel(newest[choice % len(newest)])

    @rule(seconds=st.sampled_from((1, 30, 100)))
    def sweep(self, seconds: int) -> None:
        self.pair.sweep(seconds)

    def _held(self, choice: int) -> Held:
        newest = self.pair.held[-4:]
        return newest[choice % len(newest)]

    def _publish(self, held: Held, kind: str) -> str:
        return self.pair.publish(held, _draft(kind, held.claim.wanted.covered.max_tokens))

    def _work(self, queue: str, kind: str) -> None:
        """Claim and publish with nothing in between."""
        held = self.pair.claim(queue)
        if held is None:
            return
        branch = held.job.branch
        fitted = self.reference.fits(branch)
        state = self._publish(held, kind)
        assert state == "succeeded" or held.job.error == "no-room", "a job was stale while it waited"
        assert not fitted or self.reference.fits(branch), "a summary turned a view that fits into one that does not"

    # ---- history ----

    @precondition(lambda self: any(entry.kind == "compaction" for entry in self.path))
    @rule(choice=CHOICES)
    def undo(self, choice: int) -> None:
        names = [entry.id for entry in self.path if entry.kind == "compaction"]
        self.pair.undo(names[choice % len(names)])

    @rule()
    def redo(self) -> None:
        self.pair.redo()

    @precondition(lambda self: self.pair.live)
    @rule(choice=CHOICES)
    def undo_then_redo(self, choice: int) -> None:
        before = self.pair.rendered()
        self.pair.undo(self.pair.live[choice % len(self.pair.live)])
        # A kept summary may cover what the undo makes pending again. Then that is published, and undone in turn.
        if self.path[-1].kind == "undo":
            self.pair.redo()
            last = self.path[-1]
            assert last.kind != "redo" or self.pair.rendered() == before, "undo then redo is the identity"

    @precondition(lambda self: self.pair.live)
    @rule(choice=CHOICES, count=SIZES, turns=st.sampled_from((1, 2, 8)), is_redone=st.booleans())
    def undo_and_append(self, *, choice: int, count: int, turns: int, is_redone: bool) -> None:
        self.pair.undo(self.pair.live[choice % len(self.pair.live)])
        self.talk(turns, count)
        if is_redone:
            self.pair.redo()
        else:
            self.let_all_jobs_succeed()

    @precondition(lambda self: self.pair.live)
    @rule()
    def undo_everything(self) -> None:
        while self.pair.live:
            self.pair.undo(self.pair.live[0])
        facts, _ = placed(self.path)
        is_paired = sum(len(fact.calls) for fact in facts) == sum(fact.answers is not None for fact in facts)
        if is_paired and not any(fact.is_late for fact in facts):
            shown = self.pair.view()[bool(self.reference.pins) :]
            originals = [entry.said.source for entry in self.path if entry.said]
            assert [message.source for message in shown] == originals, "a part of what was undone still shows"

    @precondition(lambda self: self.path)
    @rule(choice=CHOICES, is_near=st.booleans(), request=LEAVING)
    def branch(self, choice: int, *, is_near: bool, request: ReferenceRequest | None = None) -> None:
        found = self.path if is_near else list(reachable(self.reference))
        self.pair.move(found[-1 - choice % len(found)].id, request)

    @precondition(lambda self: len(self.reference.branches) > 1)
    @rule(choice=CHOICES, request=LEAVING)
    def go_back(self, choice: int, request: ReferenceRequest | None) -> None:
        number = choice % len(self.reference.branches)
        own = [entry for entry in self.reference.path(number) if entry.branch == number and entry.kind == "message"]
        if own:
            self.pair.move(own[-1].id, request)
            assert self.reference.head == number, "a branch's last message names its leaf"

    # ---- pins, settings, deletion ----

    @rule(count=st.sampled_from((2, 10, 60)))
    def pin(self, count: int) -> None:
        self.pair.pin(self._text(count))

    @precondition(lambda self: self.messages)
    @rule(choice=CHOICES)
    def pin_an_entry(self, choice: int) -> None:
        self.pair.pin_entry(self.messages[choice % len(self.messages)].id)

    @precondition(lambda self: self.reference.pins)
    @rule(choice=CHOICES)
    def unpin(self, choice: int) -> None:
        self.pair.unpin(choice % len(self.reference.pins))

    @rule(window=st.sampled_from((500, 700, 1_000, 3_000)))
    def change_window(self, window: int) -> None:
        self.pair.change({"context_window": window}, window=window)

    @rule(count=st.sampled_from((None, 5, 60)))
    def change_system(self, count: int | None) -> None:
        system = None if count is None else words(count)
        self.pair.change({"system": system}, system=system)

    @rule(policy=POLICIES)
    def change_policy(self, policy: Wire) -> None:
        # Without a preset, it changes the policy in force, whose stages of the same name keep their parameters.
        changed = policy_of(policy, PRESETS, self.reference.policy)
        self.pair.change({"policy": policy}, policy_values=to_json(changed))

    @rule(is_automatic=st.sampled_from((True, True, False)))
    def change_auto_compact(self, *, is_automatic: bool) -> None:
        self.pair.change({"auto_compact": is_automatic}, auto_compact=is_automatic)

    @rule(window=st.sampled_from((700, 2_000)), seconds=st.sampled_from((0, 100)))
    def delete_and_create_again(self, window: int, seconds: int) -> None:
        self.pair.delete()
        if seconds:
            self.pair.sweep(seconds)
        self.pair.create(window, None, {})
        self.by_version, self.earlier = {}, (None, [])

    # ---- where it all ends ----

    @rule()
    def let_all_jobs_succeed(self) -> None:
        for _ in range(2):
            self.pair.sweep(200)
        self.pair.change({})
        self._drain()
        head, newest = self.reference.head, newest_job(self.reference)
        if self.reference.outline(head).pending_tokens:
            has_no_room = newest is not None and newest.error == "no-room"
            assert has_no_room or not self.reference.fits(head), "pending forever though jobs succeed"
            return
        before = self.pair.rendered(), self.pair.jobs()
        self.pair.change({})
        assert (self.pair.rendered(), self.pair.jobs()) == before, "compacting again without new entries did something"

    @rule()
    def compact_until_nothing_changes(self) -> None:
        self.pair.sweep(200)
        for _ in range(4):
            before = self.pair.rendered()
            self.pair.compact(ReferenceRequest(is_asked=True))
            self._drain()
            if self.pair.rendered() == before:
                return
        pytest.fail("compacting again without new entries keeps changing the view")

    def _drain(self) -> None:
        """Run all waiting jobs."""
        for _ in range(3 * sum(len(self.reference.path(branch.number)) + 3 for branch in self.reference.branches)):
            if not any(job.state in {"queued", "running"} for job in self.reference.jobs):
                return
            self._work(INTERACTIVE, "short")
            self._work(BACKGROUND, "short")
        pytest.fail("summaries without end")

    # ---- what always holds ----

    @invariant()
    def all_invariants_hold(self) -> None:
        for check in INVARIANTS:
            check(self.pair)

    @invariant()
    def one_version_has_one_view_and_its_prefix_changes_only_by_compactions(self) -> None:
        shown = self.reference.view(self.reference.head, keep_empty=True)
        version = self.pair.head.session.version
        assert self.by_version.setdefault(version, shown) == shown
        edits = [entry.id for entry in self.path if entry.kind != "message"]
        now = (self.reference.head, edits, list(self.reference.pins))
        before, earlier = self.earlier
        assert before != now or shown[: len(earlier)] == earlier
        # Results replace the stubs of open calls.
        self.earlier = (None if self.waiting else now, shown)

    @invariant()
    def other_tenants_are_not_touched(self) -> None:
        with self.store.read() as tx:
            assert paths.open_head(tx, "other", SESSION).session.version == 2


TestLog = pytest.mark.timeout(1_800)(Log.TestCase)
