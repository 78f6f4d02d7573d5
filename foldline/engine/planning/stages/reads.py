"""The reads of files that results show: which can replace which, and which ones pointers refer to."""

from __future__ import annotations

from typing import NamedTuple

from foldline.engine.facts import Facts
from foldline.engine.files import Read
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Plan


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
    read = entry.read
    if read:
        return ReadShown(read)
    path = entry.said_path if by_words and entry.tool else ""
    return ReadShown(Read(path), entry.tool) if path else None


def stands_in(later: Read, later_tokens: int, read: Read, tokens: int) -> bool:
    """Whether a later read can replace an older one: it covers the same lines and has at least half its tokens.

    A result that is less than half as large probably shows only a part.
    """
    return later.covers(read) and later_tokens * 2 >= tokens


def pointed_at(outline: Outline, plan: Plan) -> set[int]:
    """The seqs of the reads in view that superseded reads point to: for each, the newest that can replace it."""
    cells = plan.cells_on(outline)
    first = min((seq for seq, cell in cells.items() if cell.kind == "supersede"), default=None)
    found: set[int] = set()
    if first is None:
        return found
    shown: dict[tuple[str, str], list[tuple[Read, int, int]]] = {}
    for _, entry in reversed(plan.results_in_view(outline)):
        if entry.seq < first:
            break
        cell = cells.get(entry.seq)
        if cell is not None and cell.kind != "supersede":
            continue
        its = read_shown(entry)
        if its is None:
            continue
        size, others = outline.measure.content(entry), shown.setdefault(its.key, [])
        if cell is not None:
            found.update([seq for read, tokens, seq in others if stands_in(read, tokens, its.read, size)][:1])
        elif not entry.is_failure:
            others.append((its.read, size, entry.seq))
    return found
