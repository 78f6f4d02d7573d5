"""Interleavings of everything a session's clients and workers can do, on a real database, against the reference."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import event, select

from compaction.budget import SMALLEST_SUMMARY
from compaction.errors import CompactionError, ViewDoesNotFit
from compaction.formats import FORMATS, rules
from compaction.messages import Message, ToolResult
from compaction.outline import Summarized
from compaction.summary import Draft
from compaction.tokens import count_messages, scaled
from compaction.wire import loads
from compaction.wording import marker_tokens, pins_tokens, stub_tokens, summary_frame_tokens
from migrations import upgrade
from sessions import appending, asked, branches, entries, history, jobs, lifecycle, log, pins, requests, views
from sessions.errors import CallsOpen, SessionsError
from sessions.jobs import Claim
from sessions.lifecycle import NewSession
from sessions.store import Limits, Store, Transaction
from sessions.tables import JOB
from sessions.usage import Usage
from tests.support.reference import (
    AUTOMATIC, BACKGROUND, INTERACTIVE, Ask, Job, Reference, Refused, fold, placed, reachable,
)  # fmt: skip

Wire: TypeAlias = dict[str, Any]
TENANT, SESSION = "acme", "s"
LIMITS = Limits(lease_seconds=60, retry_seconds=40, max_attempts=2, summarizer_tokens=250)
SMALLEST = SMALLEST_SUMMARY + summary_frame_tokens()

SIZES = st.sampled_from((1, 12, 40, 90))
CHOICES = st.integers(0, 99)
POLICIES = st.sampled_from(({}, {"keep_recent": 0.05, "summary_share": 0.1}, {"trigger": 0.95, "target": 0.8}))
DRAFTS = st.sampled_from(("short", "short", "full", "blank", "too long"))


class Clock:
    """Whole seconds, moved by hand."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


class Numbering:
    """Ids that can be foretold: `job_1`, `job_2`, …"""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        self.taken[prefix] = self.taken.get(prefix, 0) + 1
        return f"{prefix}_{self.taken[prefix]}"


@dataclass(frozen=True)
class Held:
    """A claim as the worker has it, and the reference's job at that attempt."""

    claim: Claim
    job: Job
    attempt: int

    @property
    def is_current(self) -> bool:
        return self.job.state == "running" and self.job.attempts == self.attempt


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.db")
        store = Store(f"sqlite:///{path}")
        upgrade(store.engine)
        store.close()
        return path.read_bytes()


def _without_waiting_for_the_disk(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def _words(label: str, count: int) -> str:
    return label + " fold" * count


def _parsed(wire: Sequence[Wire], name: str = "openai") -> list[Message]:
    return FORMATS[name].parse(wire)


def _call(call_id: str, argument_words: int, path: str | None) -> Wire:
    arguments: Wire = {"path": path} if path else {"command": _words("", argument_words)}
    name = "read_file" if path else "bash"
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _result(call_id: str, text: str) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


class Log(RuleBasedStateMachine):
    """Each rule does one thing to the session and to the reference, and expects the same outcome."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="log"))
        (self.folder / "log.db").write_bytes(_empty_database())
        self.clock, self.numbering = Clock(), Numbering()
        self.store = Store(f"sqlite:///{self.folder}/log.db", limits=LIMITS, clock=self.clock, new_id=self.numbering)
        event.listen(self.store.engine, "connect", _without_waiting_for_the_disk)
        self.said = 0
        self.calls: list[str] = []
        self.held: list[Held] = []
        self.seen: dict[tuple[int, bool], list[Message]] = {}

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @initialize(window=st.sampled_from((700, 1_000, 2_000)), system=st.sampled_from((None, 20)), policy=POLICIES)
    def begin(self, window: int, system: int | None, policy: Wire) -> None:
        self._create(window, None if system is None else _words("Be brief.", system), policy)
        with self.store.write() as tx:
            lifecycle.create(tx, "other", NewSession("test/model", id=SESSION, context_window=900))
            appending.append(tx, "other", SESSION, appending.prepare(_parsed([{"role": "user", "content": "mine"}])))

    def _create(self, window: int, system: str | None, policy: Wire) -> None:
        new = NewSession("test/model", id=SESSION, context_window=window, system=system, policy=policy)
        with self.store.write() as tx:
            lifecycle.create(tx, TENANT, new)
        self.reference = Reference(
            window, system, policy, lease_ms=LIMITS.lease_seconds * 1000, retry_ms=LIMITS.retry_seconds * 1000,
            max_attempts=LIMITS.max_attempts, summarizer_tokens=LIMITS.summarizer_tokens, now=self.store.now,
            jobs_before=self.numbering.taken.get("job", 0), summaries_before=self.numbering.taken.get("sum", 0),
        )  # fmt: skip
        self.seen = {}

    # ---- doing the same to both ----

    def _write(self, real: Callable[[Transaction], Any], expected: Callable[[], Any]) -> Any:
        """What the session answered; the reference has to answer, or to refuse, in the same way."""
        self.reference.now = self.store.now
        result, refused = None, None
        try:
            with self.store.write() as tx:
                result = real(tx)
        except (SessionsError, CompactionError) as error:
            refused = type(error).__name__
        with self.store.read() as tx:
            self.reference.multiplier = log.open_head(tx, TENANT, SESSION).session.multiplier
        with self._expecting(refused):
            expected()
        return result

    @contextmanager
    def _expecting(self, refused: str | None) -> Iterator[None]:
        due = None
        try:
            yield
        except Refused as error:
            due = error.name
        except CompactionError as error:
            due = type(error).__name__
        assert refused == due, f"answered {refused}, due was {due}"

    def _append(self, wire: Sequence[Wire], name: str = "openai", **given: Any) -> list[str]:
        messages = _parsed(wire, name)
        drafts = appending.prepare(messages)
        appended = self._write(
            lambda tx: appending.append(tx, TENANT, SESSION, drafts, **given), lambda: self.reference.append(messages)
        )
        ids: list[str] = appended.entry_ids
        path = self.reference.path(self.reference.head)
        added = [entry.id for entry in path if entry.kind == "message"][-len(ids) :] if ids else []
        assert ids == added
        return ids

    def _label(self) -> str:
        self.said += 1
        return f"m{self.said}"

    def _user(self, words: int) -> Wire:
        return {"role": "user", "content": _words(self._label(), words)}

    def _assistant(self, words: int, calls: Sequence[Wire] = ()) -> Wire:
        message: Wire = {"role": "assistant", "content": _words(self._label(), words)}
        return {**message, "tool_calls": list(calls)} if calls else message

    @property
    def _head(self) -> Any:
        with self.store.read() as tx:
            return log.open_head(tx, TENANT, SESSION)

    # ---- appends ----

    @rule(words=SIZES, how=st.sampled_from(("plain", "parent", "if_match")))
    def ask(self, words: int, how: str) -> None:
        path = self.reference.path(self.reference.head)
        given: Wire = {}
        if how == "parent" and path:
            given = {"parent": next((entry.id for entry in reversed(path) if entry.kind == "message"), path[-1].id)}
        elif how == "if_match":
            given = {"if_match": self._head.session.version}
        self._append([self._user(words)], **given)

    @rule(words=st.sampled_from((0, 12, 90)), is_silent=st.booleans())
    def say(self, words: int, is_silent: bool) -> None:  # noqa: FBT001
        empty = {"role": "assistant", "content": ""}
        self._append([empty if is_silent and words == 0 else self._assistant(words)])

    @rule(turns=st.integers(1, 4), words=SIZES)
    def talk(self, turns: int, words: int) -> None:
        self._append([message for _ in range(turns) for message in (self._user(words), self._assistant(words))])

    @rule(role=st.sampled_from(("developer", "system")), words=SIZES)
    def note(self, role: str, words: int) -> None:
        self._append([{"role": role, "content": _words(self._label(), words)}])

    @rule(
        count=st.integers(1, 3), argument=st.sampled_from((1, 40, 300)), words=SIZES, done=st.integers(0, 3),
        path=st.sampled_from((None, "a.py", "b.py")), is_used_id=st.booleans(), is_reversed=st.booleans(),
    )  # fmt: skip
    def work_in_parallel(
        self, count: int, argument: int, words: int, done: int, path: str | None, is_used_id: bool, is_reversed: bool  # noqa: FBT001
    ) -> None:
        ids = [f"c{0 if is_used_id and not number else len(self.calls) + number}" for number in range(count)]
        self.calls += ids
        answered = (ids[::-1] if is_reversed else ids)[:done]
        calls = [_call(call_id, argument, path) for call_id in ids]
        self._append(
            [self._assistant(3, calls), *(_result(call_id, _words(self._label(), words)) for call_id in answered)]
        )

    @rule(words=st.sampled_from((400, 900, 3_000)))
    def read_something_huge(self, words: int) -> None:
        self.calls.append(f"c{len(self.calls)}")
        call = _call(self.calls[-1], 1, None)
        self._append([self._assistant(3, [call]), _result(self.calls[-1], _words(self._label(), words))])

    @rule(words=st.sampled_from((300, 2_500)))
    def ask_something_huge(self, words: int) -> None:
        self._append([self._user(words)])

    @precondition(lambda self: self.reference.open_calls(self.reference.head))
    @rule(choice=CHOICES, words=SIZES)
    def answer(self, choice: int, words: int) -> None:
        waiting = self.reference.open_calls(self.reference.head)
        self._append([_result(waiting[choice % len(waiting)], _words(self._label(), words))])

    @rule(choice=CHOICES, words=SIZES)
    def answer_late_or_again(self, choice: int, words: int) -> None:
        known = [*self.calls[-4:], "unknown"]
        waiting = self.reference.open_calls(self.reference.head)
        call_id = known[choice % len(known)]
        self._append([_result(call_id, _words(self._label(), words))])
        left = self.reference.open_calls(self.reference.head)
        assert len(left) == len(waiting) - (call_id in waiting), "a late or repeated result closed calls that wait"

    @rule(words=SIZES, has_text=st.booleans())
    def work_in_anthropic_format(self, words: int, has_text: bool) -> None:  # noqa: FBT001
        ids = [f"c{len(self.calls) + number}" for number in range(2)]
        self.calls += ids
        uses = [{"type": "tool_use", "id": call_id, "name": "bash", "input": {"n": 1}} for call_id in ids]
        answers: list[Wire] = [
            {"type": "tool_result", "tool_use_id": call_id, "content": _words(self._label(), words)} for call_id in ids
        ]
        text = [{"type": "text", "text": _words(self._label(), words)}] if has_text else []
        self._append(
            [{"role": "assistant", "content": uses}, {"role": "user", "content": answers + text}], "anthropic"
        )

    @rule(percent=st.sampled_from((50, 110, 150, 300)), age=st.sampled_from((0, 0, 1, 5)))
    def report_usage(self, percent: int, age: int) -> None:
        session = self._head.session
        counted = self.reference.outline(self.reference.head).tokens + self.reference.overhead
        usage = Usage(session.version - age, max(1, counted * percent // 100))
        self._append([self._user(1)], usage=usage)
        after = self.reference.multiplier
        assert 1000 <= after <= 2000
        if not age and counted:
            assert abs(after - max(1000, min(2000, percent * 10))) <= 1000 // counted + 1

    # ---- what must be refused ----

    @rule(choice=CHOICES, what=st.sampled_from(("if_match", "parent", "compaction", "entry", "pin")))
    def ask_for_what_is_not_there(self, choice: int, what: str) -> None:
        before = self._state()
        names = [entry.id for entry in reachable(self.reference) if not self.reference.is_parent(entry.id)]
        name = [*names, "e7-1", "nonsense"][choice % (len(names) + 2)]
        stale = self._head.session.version - 1
        drafts = appending.prepare(_parsed([{"role": "user", "content": "x"}]))
        real: dict[str, tuple[str, Callable[[Transaction], Any]]] = {
            "if_match": ("StaleVersion", lambda tx: appending.append(tx, TENANT, SESSION, drafts, if_match=stale)),
            "parent": ("UnknownParent", lambda tx: appending.append(tx, TENANT, SESSION, drafts, parent=name)),
            "compaction": ("NotFound", lambda tx: history.undo(tx, TENANT, SESSION, "e9-1")),
            "entry": ("NotFound", lambda tx: branches.move(tx, TENANT, SESSION, "e9-1")),
            "pin": ("NotFound", lambda tx: pins.remove(tx, TENANT, SESSION, "pin_0")),
        }
        error, action = real[what]

        def refuse() -> None:
            raise Refused(error)

        self._write(action, refuse)
        assert self._state() == before

    # ---- compaction and its life ----

    @rule(
        summarize=st.sampled_from((None, True, False)), goal=st.sampled_from((None, None, 60, 150)),
        stages=st.sampled_from((None, None, ["prune", "summarize"], ["truncate"], [])),
        instructions=st.sampled_from((None, None, "keep the names")), policy=st.one_of(st.none(), POLICIES),
    )  # fmt: skip
    def compact(
        self, summarize: bool | None, goal: int | None, stages: list[str] | None, instructions: str | None, policy: Wire | None  # noqa: FBT001
    ) -> None:
        self._compact(Ask(True, instructions, goal, policy), stages, summarize=summarize)  # noqa: FBT003

    def _compact(self, ask: Ask, stages: list[str] | None = None, *, summarize: bool | None = True) -> None:
        real_ask = requests.Ask(**ask._asdict())
        self._write(
            lambda tx: asked.compact(tx, TENANT, SESSION, real_ask, stages=stages, summarize=summarize),
            lambda: self.reference.compact(ask, stages=stages, summarize=summarize),
        )

    @rule(queue=st.sampled_from((INTERACTIVE, BACKGROUND)))
    def claim(self, queue: str) -> None:
        self._claim(queue)

    def _claim(self, queue: str) -> Held | None:
        self.reference.now = self.store.now
        claim, job = jobs.claim(self.store, queue), self.reference.claim(queue)
        assert (claim and claim.job_id) == (job and job.id)
        if claim is None or job is None:
            return None
        assert claim.covered == job.covered
        given = (list(claim.request.previous), list(claim.request.messages))
        assert given == self.reference.summarized_by(job), "a summarizer is given the originals and what it replaces"
        self.held.append(Held(claim, job, job.attempts))
        return self.held[-1]

    @precondition(lambda self: self.held)
    @rule(choice=CHOICES, kind=DRAFTS)
    def publish(self, choice: int, kind: str) -> None:
        held = self.held[-4:][choice % len(self.held[-4:])]
        self._publish(held, kind)
        before = self._state()
        self._publish(held, "short")
        assert self._state() == before, "publishing twice is a no-op"

    def _publish(self, held: Held, kind: str) -> str:
        claim, most = held.claim, held.claim.covered.max_tokens
        text = {"short": "Folded.", "full": "fold" + " fold" * (most - 1), "blank": " ", "too long": " fold" * (most + 9)}[kind]
        self.reference.now = self.store.now
        expected = self.reference.publish(held.job, text) if held.is_current else held.job.state
        assert jobs.publish(self.store, claim, Draft(text, degraded=False, summarizer="test")) == expected
        return expected

    @rule(queue=st.sampled_from((INTERACTIVE, BACKGROUND)), times=st.integers(1, 3), kind=st.sampled_from(("short", "full")))
    def summarize_at_once(self, queue: str, times: int, kind: str) -> None:
        for _ in range(times):
            self._work(queue, kind)

    def _work(self, queue: str, kind: str) -> bool:
        """Claim and publish with nothing in between."""
        held = self._claim(queue)
        if held is None:
            return False
        fitted = self._fits(held.job.branch)
        state = self._publish(held, kind)
        assert state in {"succeeded", "failed"}, "a job was stale while it waited"
        assert state == "succeeded" or held.job.error == "no-room"
        assert not fitted or self._fits(held.job.branch), "a summary turned a view that fits into one that does not"
        return True

    def _fits(self, branch: int) -> bool:
        return scaled(self.reference.outline(branch).tokens + self.reference.overhead, self.reference.multiplier) <= self.reference.limit

    @precondition(lambda self: self.held)
    @rule(choice=CHOICES, what=st.sampled_from(("fail", "beat", "release")))
    def report(self, choice: int, what: str) -> None:
        held = self.held[-4:][choice % len(self.held[-4:])]
        self.reference.now = self.store.now
        is_current = held.is_current
        if what == "fail":
            jobs.fail(self.store, held.claim, "the summarizer is down")
            if is_current:
                self.reference.fail(held.job, "down")
        elif what == "beat":
            assert jobs.beat(self.store, held.claim, 0.5) == is_current
            if is_current:
                self.reference.beat(held.job)
        else:
            jobs.release(self.store, held.claim)
            if is_current:
                self.reference.release(held.job)

    @precondition(lambda self: self.reference.jobs)
    @rule(choice=CHOICES)
    def cancel(self, choice: int) -> None:
        job = self.reference.jobs[-1 - choice % min(4, len(self.reference.jobs))]

        def expected() -> None:
            if job.state not in {"queued", "running"}:
                raise Refused("Conflict")
            job.end("cancelled")

        self._write(lambda tx: jobs.cancel(tx, TENANT, job.id), expected)

    @rule(seconds=st.sampled_from((1, 30, 100)))
    def sweep(self, seconds: int) -> None:
        self.clock.seconds += seconds
        self.reference.now = self.store.now
        waiting = jobs.sweep(self.store)
        self.reference.sweep()
        queues = [job.queue for job in self.reference.jobs if job.state == "queued" and job.not_before <= self.store.now]
        assert sorted(waiting) == sorted(queues)

    # ---- history ----

    @property
    def _live(self) -> list[str]:
        return [entry.id for entry in fold(self.reference.path(self.reference.head)).live]

    def _undo(self, name: str) -> None:
        self._write(lambda tx: history.undo(tx, TENANT, SESSION, name), lambda: self.reference.undo(name))

    def _redo(self) -> Any:
        return self._write(lambda tx: history.redo(tx, TENANT, SESSION), self.reference.redo)

    @precondition(lambda self: any(entry.kind == "compaction" for entry in self.reference.path(self.reference.head)))
    @rule(choice=CHOICES)
    def undo(self, choice: int) -> None:
        names = [entry.id for entry in self.reference.path(self.reference.head) if entry.kind == "compaction"]
        self._undo(names[choice % len(names)])

    @rule()
    def redo(self) -> None:
        self._redo()

    @precondition(lambda self: self._live)
    @rule(choice=CHOICES)
    def undo_then_redo(self, choice: int) -> None:
        before = self._rendered()
        self._undo(self._live[choice % len(self._live)])
        if self.reference.path(self.reference.head)[-1].kind == "undo":
            self._redo()
            last = self.reference.path(self.reference.head)[-1]
            assert last.kind != "redo" or self._rendered() == before, "undo then redo is the identity"

    @precondition(lambda self: self._live)
    @rule(choice=CHOICES, words=SIZES, turns=st.integers(1, 2))
    def undo_append_then_redo(self, choice: int, words: int, turns: int) -> None:
        self._undo(self._live[choice % len(self._live)])
        self.talk(turns, words)
        self._redo()

    @precondition(lambda self: self._live)
    @rule()
    def undo_everything(self) -> None:
        while self._live:
            self._undo(self._live[0])
        with self.store.read() as tx:
            shown = views.view(tx, TENANT, SESSION, must_fit=False).messages[bool(self.reference.pins) :]
        path = self.reference.path(self.reference.head)
        facts, tail = placed(path)
        answered = [fact for fact in facts if fact.answers is not None and not fact.is_late]
        is_well_formed = len(answered) == sum(len(fact.calls) for fact in facts) and not any(fact.is_late for fact in facts)
        if is_well_formed and not tail.open_calls:
            originals = [entry.message.source for entry in path if entry.message]
            assert [message.source for message in shown] == originals, "nothing is left of what was undone"

    @precondition(lambda self: self.reference.path(self.reference.head))
    @rule(choice=CHOICES, is_near=st.booleans())
    def branch(self, choice: int, is_near: bool) -> None:  # noqa: FBT001
        found = self.reference.path(self.reference.head) if is_near else list(reachable(self.reference))
        name = found[-1 - choice % len(found)].id
        self._write(lambda tx: branches.move(tx, TENANT, SESSION, name), lambda: self.reference.move(name))

    @precondition(lambda self: len(self.reference.branches) > 1)
    @rule(choice=CHOICES)
    def go_back(self, choice: int) -> None:
        number = choice % len(self.reference.branches)
        own = [entry for entry in self.reference.path(number) if entry.branch == number and entry.kind == "message"]
        if own:
            name = own[-1].id
            self._write(lambda tx: branches.move(tx, TENANT, SESSION, name), lambda: self.reference.move(name))
            assert self.reference.head == number, "a branch's last message names its leaf"

    # ---- pins and settings ----

    @rule(words=st.sampled_from((2, 10, 60)))
    def pin(self, words: int) -> None:
        text = _words(self._label(), words)
        self._write(lambda tx: pins.add(tx, TENANT, SESSION, text=text), lambda: self.reference.pin(text))

    @precondition(lambda self: any(entry.message for entry in self.reference.path(self.reference.head)))
    @rule(choice=CHOICES)
    def pin_an_entry(self, choice: int) -> None:
        said = [entry for entry in self.reference.path(self.reference.head) if entry.message]
        name = said[choice % len(said)].id
        self._write(
            lambda tx: pins.add(tx, TENANT, SESSION, entry_id=name), lambda: self.reference.pin_entry(name)
        )

    @precondition(lambda self: self.reference.pins)
    @rule(choice=CHOICES)
    def unpin(self, choice: int) -> None:
        index = choice % len(self.reference.pins)
        with self.store.read() as tx:
            name = pins.pins(tx, TENANT, SESSION)[index].id
        self._write(lambda tx: pins.remove(tx, TENANT, SESSION, name), lambda: self.reference.pins.pop(index))

    @rule(window=st.sampled_from((500, 700, 1_000, 3_000)))
    def change_window(self, window: int) -> None:
        self._change({"context_window": window}, window=window)

    @rule(words=st.sampled_from((None, 5, 60)))
    def change_system(self, words: int | None) -> None:
        system = None if words is None else _words("Be kind.", words)
        self._change({"system": system}, system=system)

    @rule(policy=POLICIES)
    def change_policy(self, policy: Wire) -> None:
        self._change({"policy": policy}, policy_values=policy)

    @rule(is_automatic=st.sampled_from((True, True, False)))
    def change_auto_compact(self, is_automatic: bool) -> None:  # noqa: FBT001
        self._change({"auto_compact": is_automatic}, auto_compact=is_automatic)

    def _change(self, changes: Mapping[str, Any], **expected: Any) -> None:
        self._write(
            lambda tx: lifecycle.change(tx, TENANT, SESSION, changes), lambda: self.reference.change(**expected)
        )

    @rule(window=st.sampled_from((700, 2_000)), seconds=st.sampled_from((0, 100)))
    def delete_and_create_again(self, window: int, seconds: int) -> None:
        with self.store.write() as tx:
            lifecycle.delete(tx, TENANT, SESSION)
        self.reference.delete()
        if seconds:
            self.clock.seconds += seconds
            jobs.sweep(self.store)
        self._create(window, None, {})

    # ---- where it all ends ----

    @rule()
    def let_all_jobs_succeed(self) -> None:
        for _ in range(2):
            self.sweep(200)
        self._change({})
        self._drain()
        head = self.reference.head
        owed, newest = self.reference.outline(head).owed_tokens, self._newest_job(head)
        is_typed = (newest is not None and newest.error == "no-room") or not self._fits(head)
        assert not owed or is_typed, "owed forever though jobs succeed"
        before, known = self._rendered(), len(self.reference.jobs)
        self._change({})
        if not owed:
            assert self._rendered() == before, "compacting again without new entries changed the view"
            assert len(self.reference.jobs) == known

    def _drain(self) -> None:
        everything = sum(len(self.reference.path(number)) + 3 for number in range(len(self.reference.branches)))
        published = 0
        while self._work(INTERACTIVE, "short") or self._work(BACKGROUND, "short"):
            published += 1
            assert published <= 3 * everything, "summaries without end"

    @rule()
    def compact_until_nothing_changes(self) -> None:
        self.sweep(200)
        for _ in range(4):
            before = self._rendered()
            self._compact(Ask(is_asked=True))
            self._drain()
            if self._rendered() == before:
                return
        raise AssertionError("compacting again without new entries keeps changing the view")

    def _newest_job(self, branch: int) -> Job | None:
        return next((job for job in reversed(self.reference.jobs) if job.branch == branch), None)

    # ---- looking ----

    def _rendered(self) -> str:
        """The head's view, byte for byte, whether it fits or not."""
        with self.store.read() as tx:
            shown = views.view(tx, TENANT, SESSION, must_fit=False)
            rendered = FORMATS["openai"].render(shown.messages, shown.path.session.system)
        return json.dumps([rendered.messages, shown.used])

    def _state(self) -> Any:
        """All that is kept of the session, but its version and what a lease changes."""
        with self.store.read() as tx:
            head = log.open_head(tx, TENANT, SESSION)
            paths = [log.branch_path(tx, head.session, number) for number in range(head.session.branches)]
            found = [
                (path.leaf_seq, path.kept, path.raw, path.owed_tokens, path.next_summary_at, log.live_edits(tx, path))
                for path in paths
            ]
            return head.session.head, found, self._jobs(tx, head.session.pk), views.pins_of(tx, head.session.pk)

    def _jobs(self, tx: Transaction, session_pk: int) -> list[Any]:
        rows = tx.execute(select(JOB).where(JOB.c.session_pk == session_pk).order_by(JOB.c.number)).all()
        return [
            (row.id, row.branch, row.state, row.queue, row.attempts, row.superseded_by, row.error == "no-room", loads(row.parameters))
            for row in rows
        ]

    # ---- what always holds ----

    @invariant()
    def every_branch_is_what_its_entries_amount_to(self) -> None:
        with self.store.read() as tx:
            head = log.open_head(tx, TENANT, SESSION)
            assert head.session.head == self.reference.head
            assert head.session.branches == len(self.reference.branches)
            for branch in self.reference.branches:
                path = log.branch_path(tx, head.session, branch.number)
                self._check_path(tx, path)
                assert path.next_summary_at == branch.next_summary_at

    def _check_path(self, tx: Transaction, path: log.Path) -> None:
        walk = [entry.id for entry in self.reference.path(path.branch)]
        runs = [(part.branch, seq) for part in log.segments(tx, path) for seq in range(part.first, part.last + 1)]
        assert [log.entry_id(*at) for at in runs] == walk, "segments are a parent walk"
        folded, live = fold(self.reference.path(path.branch)).edits, log.live_edits(tx, path)
        assert (live.cells, live.hidden, live.condensed) == (folded.cells, folded.hidden, folded.condensed)
        assert set(live.barred) == set(folded.barred)
        outline = self.reference.outline(path.branch)
        assert path.kept == outline.tokens, "a kept total is a recount"
        assert path.raw == self.reference.outline(path.branch, is_raw=True).tokens
        assert path.owed_tokens == outline.owed_tokens
        assert views.open_calls_of(path) == self.reference.open_calls(path.branch)
        for edit, other in zip(live.condensed, live.condensed[1:], strict=False):
            assert edit.last < other.first

    @invariant()
    def originals_are_readable(self) -> None:
        expected = self.reference.path(self.reference.head)
        with self.store.read() as tx:
            found = entries.entries(tx, TENANT, SESSION, 0, 10_000)
            listed = history.compactions(tx, TENANT, SESSION)
        assert [(entry.id, entry.kind) for entry in found] == [(entry.id, entry.kind) for entry in expected]
        for entry, original in zip(found, expected, strict=True):
            assert original.message is None or entry.body == original.message.source
        live = [compaction.id for compaction in listed if compaction.is_live]
        assert live == [entry.id for entry in fold(expected).live]

    @invariant()
    def jobs_are_what_was_asked_for(self) -> None:
        expected = [
            (job.id, job.branch, job.state, job.queue, job.attempts, job.superseded_by, job.error == "no-room", job.ask._asdict())
            for job in self.reference.jobs
        ]
        with self.store.read() as tx:
            assert self._jobs(tx, log.open_head(tx, TENANT, SESSION).session.pk) == expected
        for branch in self.reference.branches:
            for state in ("queued", "running"):
                assert len(self.reference.jobs_of(branch.number, state)) <= 1

    @invariant()
    def what_is_owed_has_a_job_or_a_visible_failure(self) -> None:
        head = self.reference.branches[self.reference.head]
        if self.reference.outline(head.number).owed_tokens:
            newest = self._newest_job(head.number)
            is_visible = newest is not None and newest.state in {"queued", "running", "failed", "cancelled"}
            assert is_visible or self.store.now < head.next_summary_at, f"owed to nobody: {newest}"

    @invariant()
    def the_view_is_what_the_originals_and_edits_give(self) -> None:
        head = self.reference.head
        with self.store.read() as tx:
            shown = views.view(tx, TENANT, SESSION, must_fit=False)
        assert shown.messages == self.reference.view(head, keep_empty=True)
        assert shown.used == self.reference.used(head)
        assert self.seen.setdefault((shown.path.session.version, False), shown.messages) == shown.messages, (
            "one version has one view"
        )

    @invariant()
    def a_view_fits_and_is_valid_or_says_why_not(self) -> None:
        with self.store.read() as tx:
            try:
                shown = views.view(tx, TENANT, SESSION, stub_open=True)
            except ViewDoesNotFit as error:
                assert error.used_tokens > error.limit_tokens == self.reference.limit
                self._check_that_it_cannot_fit(error.used_tokens)
                return
            if self.reference.open_calls(self.reference.head):
                with pytest.raises(CallsOpen):
                    views.view(tx, TENANT, SESSION)
        assert shown.messages == self.reference.view(self.reference.head)
        counted = scaled(count_messages(shown.messages) + self._system_tokens, self.reference.multiplier)
        assert counted == shown.used <= self.reference.limit
        for name, wire_format in FORMATS.items():
            rendered = wire_format.render(shown.messages, self.reference.system)
            assert rules.check(name, rendered.messages, rendered.system) == []
        self._check_that_all_is_accounted_for(shown.messages)

    @property
    def _system_tokens(self) -> int:
        return self.reference.overhead - pins_tokens(self.reference.pins)

    def _check_that_all_is_accounted_for(self, shown: Sequence[Message]) -> None:
        """Each message is under a live summary, hidden, edited, or in the view word for word; so are pins."""
        head = self.reference.head
        outline = self.reference.outline(head)
        parts = [part for message in shown for part in message.parts]
        texts = [getattr(inner, "text", "") for part in parts for inner in (part.content if isinstance(part, ToolResult) else (part,))]
        everything = "\n".join(texts)
        under = [(item.first, item.last) for item in outline.items if isinstance(item, Summarized) or item.is_hidden]
        for entry in self.reference.path(head):
            if entry.message is None or entry.seq in outline.live.cells:
                continue
            if not any(first <= entry.seq <= last for first, last in under):
                result = entry.message.result
                wanted = [part.text for part in result.content if hasattr(part, "text")] if result else [entry.message.text]
                assert all(text in everything for text in wanted), "a message is neither in view nor accounted for"
        assert all(self.reference.texts[edit.summary] in texts for edit in outline.live.condensed)
        assert all(pin in texts for pin in self.reference.pins)
        said = [entry for entry in self.reference.path(head) if entry.message and entry.message.role == "user"]
        assert not said or said[-1].message in shown, "the last user message is in view, verbatim"

    def _check_that_it_cannot_fit(self, used: int) -> None:
        """Only what may not be edited may exceed the budget, except right after an undo or redo."""
        path = self.reference.path(self.reference.head)
        if not self.reference.auto_compact or path[-1].kind in {"undo", "redo"}:
            return
        outline = self.reference.outline(self.reference.head)
        last = outline.items[outline.last_user] if outline.last_user >= 0 else None
        fixed = [item for item in outline.items if isinstance(item, Summarized) or item is last or item.is_open]
        least = sum(item.edit.tokens if isinstance(item, Summarized) else item.tokens for item in fixed)
        stubs = stub_tokens() * len(self.reference.open_calls(self.reference.head))
        slack = stubs + 2 * (SMALLEST + marker_tokens())
        smallest = scaled(least + self.reference.overhead + slack, self.reference.multiplier)
        assert smallest > self.reference.limit, f"{used} tokens do not fit, and could in {smallest}"

    @invariant()
    def other_tenants_are_not_touched(self) -> None:
        with self.store.read() as tx:
            assert [message.text for message in views.view(tx, "other", SESSION).messages] == ["mine"]
            assert log.open_head(tx, "other", SESSION).session.version == 2


TestLog = Log.TestCase
TestLog.settings = settings(stateful_step_count=30)
