"""Trees of branches: leaving with a summary or without, coming back, branching off branches, compacting and undoing on
each, and publishing late on another than the one in use. After each step every branch is looked at.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, ExitStack

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.engine.messages import Message
from foldline.engine.policies.presets import PRESETS
from foldline.engine.view import make_view
from foldline.log.compaction import summaries
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Limits, Transaction
from tests.support.log.invariants import INVARIANTS
from tests.support.log.pair import SESSION, Pair
from tests.support.log.reference import Reference, reachable
from tests.support.log.reference_parts import Entry, ReferenceRequest
from tests.support.log.sessions import TENANT, Clock, Wire, open_store, words
from tests.support.processes.databases import sqlite_database

LIMITS = Limits(lease_seconds=60, retry_seconds=40, max_attempts=3, summarizer_tokens=500, summarizer_calls=2)
CHOICES = st.integers(0, 99)
QUEUES = st.sampled_from((INTERACTIVE, BACKGROUND))
LEAVING = st.sampled_from(
    (
        None,
        ReferenceRequest(is_asked=True),
        ReferenceRequest(is_asked=True),
        ReferenceRequest(is_asked=True, instructions="keep the names"),
    )
)
POLICIES: tuple[Wire, ...] = (
    {},
    {"keep_recent": 0.05, "lists_files": True},
    *({"preset": preset} for preset in PRESETS if preset.startswith("pi")),
    {"preset": "pi", "branch_reserve_tokens": 600, "stages": [{"name": "summarize", "keep_tokens": 60}]},
)
TOOLS = {"read_file": ("a.py", "b.py"), "edit_file": ("b.py", "c.py"), "bash": ("ls", "make")}


class Branches(RuleBasedStateMachine):
    """Each rule does one thing to the session and to the reference."""

    def __init__(self) -> None:
        super().__init__()
        self.cleanup = ExitStack()
        url = self.cleanup.enter_context(self.new_database())
        self.clock = Clock()
        self.store = self.cleanup.enter_context(open_store(url, limits=LIMITS, clock=self.clock))
        self.said = 0
        self.seen: dict[int, tuple[str | None, list[Message]]] = {}

    def teardown(self) -> None:
        self.cleanup.close()

    @initialize(window=st.sampled_from((1_000, 2_000, 5_000)), policy=st.sampled_from(POLICIES))
    def begin(self, window: int, policy: Wire) -> None:
        self.pair = Pair(self.store, self.clock, window, None, policy)
        self.work(count=12, calls=1, tool="read_file", choice=0)

    def new_database(self) -> AbstractContextManager[str]:
        """The resources of the session; they are removed after the block."""
        return sqlite_database()

    @property
    def reference(self) -> Reference:
        return self.pair.reference

    @property
    def path(self) -> list[Entry]:
        return self.reference.path(self.reference.head)

    def _text(self, count: int) -> str:
        self.said += 1
        return f"m{self.said}" + words(count)

    # ---- on the branch in use ----

    @rule(
        count=st.sampled_from((5, 40, 90, 400)),
        calls=st.integers(0, 2),
        tool=st.sampled_from(sorted(TOOLS)),
        choice=CHOICES,
    )  # fmt: skip
    def work(self, count: int, calls: int, tool: str, choice: int) -> None:
        """A turn, with calls that read or change files."""
        self.pair.append([{"role": "user", "content": self._text(count)}])
        if calls:
            self._call([f"c{self.said}-{number}" for number in range(calls)], tool, choice, count)
        self.pair.append([{"role": "assistant", "content": self._text(count)}])

    def _call(self, ids: list[str], tool: str, choice: int, count: int) -> None:
        arguments = json.dumps({"path": TOOLS[tool][choice % 2]})
        made = [{"id": i, "type": "function", "function": {"name": tool, "arguments": arguments}} for i in ids]
        results = [{"role": "tool", "tool_call_id": i, "content": self._text(count)} for i in ids]
        self.pair.append([{"role": "assistant", "content": self._text(3), "tool_calls": made}, *results])

    @rule(tool=st.sampled_from(sorted(TOOLS)), choice=CHOICES)
    def begin_a_batch(self, tool: str, choice: int) -> None:
        """Two calls, and the result of one; the other stays open."""
        self.said += 1
        ids = [f"o{self.said}-1", f"o{self.said}-2"]
        arguments = json.dumps({"path": TOOLS[tool][choice % 2]})
        made = [{"id": i, "type": "function", "function": {"name": tool, "arguments": arguments}} for i in ids]
        answer = {"role": "tool", "tool_call_id": ids[0], "content": self._text(12)}
        self.pair.append([{"role": "assistant", "content": self._text(3), "tool_calls": made}, answer])

    @rule(goal=st.sampled_from((None, 120)), summarize=st.booleans())
    def compact(self, goal: int | None, *, summarize: bool) -> None:
        self.pair.compact(ReferenceRequest(is_asked=True, target_tokens=goal), summarize=summarize)

    @precondition(lambda self: self.pair.live)
    @rule(choice=CHOICES)
    def undo(self, choice: int) -> None:
        self.pair.undo(self.pair.live[choice % len(self.pair.live)])

    @rule()
    def redo(self) -> None:
        self.pair.redo()

    # ---- between branches ----

    @rule(choice=CHOICES, request=LEAVING)
    def leave(self, choice: int, request: ReferenceRequest | None) -> None:
        """Move to an earlier entry of the path: a new branch, unless the entry is the leaf of another."""
        self.pair.move(self.path[choice % len(self.path)].id, request)

    @rule(choice=CHOICES, request=LEAVING)
    def go_to_another(self, choice: int, request: ReferenceRequest | None) -> None:
        found = list(reachable(self.reference))
        self.pair.move(found[choice % len(found)].id, request)

    @precondition(lambda self: len(self.reference.branches) > 1)
    @rule(choice=CHOICES, request=LEAVING)
    def come_back(self, choice: int, request: ReferenceRequest | None) -> None:
        """Move to the leaf of a branch."""
        leaf = self.reference.branches[choice % len(self.reference.branches)].leaf
        if leaf is not None:
            self.pair.move(leaf.id, request)

    @rule(count=st.sampled_from((12, 60)), choice=CHOICES, request=LEAVING)
    def try_and_come_back(self, count: int, choice: int, request: ReferenceRequest | None) -> None:
        """Leave the path, add a turn on another branch, and come back."""
        here = self.path[-1].id
        self.leave(choice, None)
        self.work(count=count, calls=1, tool="edit_file", choice=choice)
        self.pair.move(here, request)

    # ---- workers, on whichever branch ----

    @rule(queue=QUEUES)
    def claim(self, queue: str) -> None:
        self.pair.claim(queue)

    @precondition(lambda self: self.pair.held)
    @rule(choice=CHOICES, share=st.sampled_from((0, 50, 100, 101)))
    def publish(self, choice: int, share: int) -> None:
        """Publish a summary late, early or again; of the largest length, or too long."""
        held = self.pair.held[choice % len(self.pair.held)]
        most = held.claim.wanted.covered.max_tokens
        self.pair.publish(held, words(most * share // 100) if share else "Folded.")

    @precondition(lambda self: self.pair.held)
    @rule(choice=CHOICES, what=st.sampled_from(("fail", "release", "beat")))
    def report(self, choice: int, what: str) -> None:
        getattr(self.pair, what)(self.pair.held[choice % len(self.pair.held)])

    @rule(queue=QUEUES, times=st.integers(1, 4))
    def do_jobs(self, queue: str, times: int) -> None:
        for _ in range(times):
            held = self.pair.claim(queue)
            if held is not None:
                self.pair.publish(held, "Folded.")

    @precondition(lambda self: self.reference.jobs)
    @rule(choice=CHOICES)
    def cancel(self, choice: int) -> None:
        self.pair.cancel(self.reference.jobs[choice % len(self.reference.jobs)])

    @rule(seconds=st.sampled_from((30, 100)))
    def sweep(self, seconds: int) -> None:
        self.pair.sweep(seconds)

    # ---- what always holds ----

    @invariant()
    def all_invariants_hold(self) -> None:
        for check in INVARIANTS:
            check(self.pair)

    @invariant()
    def every_branch_shows_its_own(self) -> None:
        """A branch shows its originals with its own edits, and the same as before if it has no new entry."""
        with self.store.read() as tx:
            session = paths.open_head(tx, TENANT, SESSION).session
            for branch in self.reference.branches:
                shown = _shown(tx, paths.branch_path(tx, session, branch.number))
                assert shown == self.reference.view(branch.number)
                leaf = branch.leaf.id if branch.leaf else None
                before = self.seen.get(branch.number)
                assert before is None or before[0] != leaf or before[1] == shown, "a branch saw another's edits"
                self.seen[branch.number] = (leaf, shown)

    @invariant()
    def a_summary_of_what_was_left_comes_once(self) -> None:
        for branch in self.reference.branches:
            placed = [entry.summary for entry in self.reference.path(branch.number) if entry.kind == "branch_summary"]
            assert len(placed) == len(set(placed))


def _shown(tx: Transaction, path: Path) -> list[Message]:
    """The view of a branch, with open calls stubbed."""
    outline = entry_log.outline(tx, path)
    texts = {name: summaries.shown_text(tx, name) for name in outline.summaries}
    messages = entry_log.messages_in(tx, path.session, segments.segments(tx, path))
    return make_view(outline, messages, texts, stub_open=True)


TestBranches = pytest.mark.timeout(1_800)(Branches.TestCase)
