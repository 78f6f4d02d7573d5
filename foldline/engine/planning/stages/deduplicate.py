"""The stage `deduplicate`: replaces a read of a file by a pointer if a later successful read shows all of it."""

from __future__ import annotations

from typing import NamedTuple

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.files import Read
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan


def deduplicate(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Supersede every read in view that a later read in view covers, if that saves tokens.

    With a `minimum_saving_share`, either all of them are superseded or, if that saves less than this share of their
    tokens together, none. With `stops_at_target`, nothing is done if the target is reached already. With `by_words`,
    results of other tools are reads too if their first line says so.
    """
    own = parameters.own
    by_words = bool(own.number("by_words"))
    least_share = own.share("minimum_saving_share")
    if own.number("stops_at_target") and plan.tokens <= parameters.goals.target:
        return plan
    later: dict[tuple[str, str], list[tuple[Read, int]]] = {}
    before, closed = plan.cells_on(outline), outline.closed
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    superseded = 0
    for index, entry in reversed(plan.results_in_view(outline, parameters.horizon)):
        found = read_shown(entry, by_words=by_words)
        if found is None or entry.seq in before:
            continue
        reads, size, read = later.setdefault(found.key, []), outline.measure.content(entry), found.read
        if index < closed and any(stands_in(other, other_size, read, size) for other, other_size in reads):
            edit = Edit("supersede", entry.seq, entry.seq)
            saving = outline.shown(entry, None) - outline.shown(entry, edit)
            if saving > 0 or least_share:
                cells[entry.seq] = edit
                savings[index] = savings.get(index, 0) + saving
                superseded += size
                continue
        if not entry.is_failure:
            reads.append((read, size))
    is_enough = sum(savings.values()) >= superseded * least_share
    return plan.adding("deduplicate", cells, savings) if is_enough else plan


class ReadShown(NamedTuple):
    """The read that a result shows; `tool` is the result's tool if only the result's words say so, else empty."""

    read: Read
    tool: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it has in common with the reads that can replace it.

        Words are believed only against words of the same tool: no output can make a known read leave the view.
        """
        return self.tool, self.read.path


def read_shown(entry: Facts, *, by_words: bool = True) -> ReadShown | None:
    """The read that a result shows, if it is one by its call or, `by_words`, by its first line."""
    if entry.read:
        return ReadShown(entry.read)
    return ReadShown(Read(entry.said_path), entry.tool) if by_words and entry.said_path and entry.tool else None


def stands_in(later: Read, later_tokens: int, read: Read, tokens: int) -> bool:
    """Whether a later read can replace an older one: it covers the same lines and has at least half its tokens.

    A result that is less than half as large probably shows only a part.
    """
    return later.covers(read) and later_tokens * 2 >= tokens
