"""The things of the reference for the session log: entries that know the one before, jobs, branches, and what a path of
entries amounts to. What is done with them is in `tests.support.log.reference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import Facts, facts_of
from foldline.engine.files import Files
from foldline.engine.messages import BRANCH_ROLE, Message
from foldline.engine.planning.batches import Tail, place
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.session_files.trees import Kind as TreeKind
from foldline.engine.view import branch_message
from foldline.engine.wording import summary_tokens

Kind: TypeAlias = Literal["message", "branch_summary", "compaction", "undo", "redo"]
Span: TypeAlias = tuple[int, int]

NO_FILES = Files()
EDITING = ("compaction", "undo", "redo")
KINDS: Mapping[str, TreeKind] = {BRANCH_ROLE: "branch_summary"}
INTERACTIVE = "summarize.interactive"
BACKGROUND = "summarize.background"
# Summaries from before that one request publishes again; a job does the rest.
KEPT_AT_ONCE = 8


class Summary(NamedTuple):
    """A text that was published or could be, as it was written and as views show it."""

    id: str
    written: str
    shown: str

    @property
    def tokens(self) -> int:
        return summary_tokens(self.shown)


class Refused(Exception):
    """The log must refuse this; `name` is the class of the error it must raise."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, eq=False)
class Entry:
    """One immutable thing on a path; `before` is the one it was added to, `append` the append that led to it."""

    branch: int
    seq: int
    kind: Kind
    before: Entry | None
    message: Message | None = None
    summary: Summary | None = None
    files: Files = NO_FILES
    edits: tuple[Edit, ...] = ()
    is_inline: bool = True
    lifts_bars: bool = False
    undone: tuple[Entry, ...] = ()
    redone: tuple[Entry, ...] = ()
    undo: Entry | None = None
    append: int = 0

    @property
    def id(self) -> str:
        return f"e{self.branch}-{self.seq}"

    @cached_property
    def facts(self) -> Facts:
        assert self.said is not None
        facts = facts_of(self.said)
        return facts if self.message else facts._replace(role=BRANCH_ROLE)

    @cached_property
    def said(self) -> Message | None:
        """What the view has of it as long as nothing edits that."""
        return branch_message(self.summary.shown) if self.kind == "branch_summary" and self.summary else self.message

    @property
    def is_inline_compaction(self) -> bool:
        return self.kind == "compaction" and self.is_inline

    @property
    def hidden(self) -> list[Span]:
        return [(edit.first, edit.last) for edit in self.edits if edit.kind == "hide"]

    @property
    def condensed(self) -> list[Span]:
        return [(edit.first, edit.last) for edit in self.edits if edit.kind == "condense"]


class ReferenceRequest(NamedTuple):
    """A summary request of the reference, with the fields of `SummaryRequest`."""

    is_asked: bool
    instructions: str | None = None
    target_tokens: int | None = None
    policy: Mapping[str, Any] | None = None
    until: int | None = None
    asked_at: int | None = None
    left: tuple[int, int, int, tuple[int, int] | None] | None = None
    declined: str | None = None
    half_tokens: int | None = None
    is_plain: bool = False

    @property
    def kind(self) -> str:
        return "branch_summary" if self.left else "summary"


AUTOMATIC = ReferenceRequest(is_asked=False)


@dataclass
class Job:
    """A summary request and its state; the last three are set by a claim. Those with a later `turn` wait longer."""

    id: str
    branch: int
    request: ReferenceRequest
    queue: str
    turn: int = 0
    state: str = "queued"
    error: str | None = None
    attempts: int = 0
    claims: int = 0
    not_before: int = 0
    superseded_by: str | None = None
    lease_until: int = 0
    covered: SummaryRange | None = None
    base: Entry | None = None

    def end(self, state: str, error: str | None = None, by: str | None = None) -> None:
        self.state, self.error, self.superseded_by = state, error, by


@dataclass
class Branch:
    """A line of entries; `start` is where it left its parent."""

    number: int
    start: Entry | None
    leaf: Entry | None
    next_summary_at: int = 0
    failures: int = 0
    reported: tuple[int, int] | None = None


@dataclass(frozen=True)
class Folded:
    """What the compactions, undos and redos of a path amount to."""

    live: list[Entry]
    undos: list[Entry]
    barred: set[Span]

    @property
    def edits(self) -> LiveEdits:
        return LiveEdits().adding(edit for entry in self.live for edit in entry.edits).barring(sorted(self.barred))


def path_to(leaf: Entry | None) -> list[Entry]:
    """The entries from the first to a leaf."""
    path = []
    while leaf is not None:
        path.append(leaf)
        leaf = leaf.before
    return path[::-1]


def fold(path: Sequence[Entry]) -> Folded:
    """Compactions, undos and redos, replayed in order."""
    live: list[Entry] = []
    undos: list[Entry] = []
    barred: set[Span] = set()
    for entry in path:
        live = [other for other in live if other not in entry.undone]
        if entry.kind == "compaction":
            live.append(entry)
            barred = set() if entry.lifts_bars else barred
        elif entry.kind == "undo":
            undos.append(entry)
            barred |= {span for other in entry.undone for span in other.condensed}
        elif entry.kind == "redo":
            live = sorted([*live, *entry.redone], key=lambda other: other.seq)
            undos = [undo for undo in undos if undo is not entry.undo]
            barred -= {span for other in entry.redone for span in other.condensed}
    return Folded(live, undos, barred)


def placed(path: Sequence[Entry]) -> tuple[list[Facts], Tail]:
    """The facts of all messages of a path, and which calls wait at its end."""
    facts, tail = [], Tail()
    for entry in path:
        if entry.said is not None:
            at = place(entry.facts, entry.seq, tail)
            facts.append(at.facts)
            tail = at.tail
    return facts, tail
