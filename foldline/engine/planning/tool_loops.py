"""Open tool loops: whether edits would take the reasoning that the model still works with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.outline import Outline, Unit


def strips_open_loop(outline: Outline, edits: Iterable[Edit], edits_at: tuple[int, int] | None) -> bool:
    """Whether edits change what comes before the reasoning of an open tool loop, so that views would leave it out.

    A tool loop is open from a user message on until the assistant answers without calls. `edits_at` are the newest
    edits that a view shows: reasoning that saw other ones may be left out already, and does not count. Providers that
    check no prefix refuse a loop whose last message lost its reasoning. (Anthropic, "Extended thinking with tool use".)
    """
    newest = next(_reasoning(outline, edits_at), 0)
    return any(edit.first <= newest for edit in edits)


def _reasoning(outline: Outline, edits_at: tuple[int, int] | None) -> Iterator[int]:
    """The seqs of the loop's messages whose bound reasoning is shown, newest first."""
    for entry in _loop(outline):
        if entry.bound and entry.seen is not None and entry.seen.fixed and entry.seen.edits_at == edits_at:
            yield entry.seq


def _loop(outline: Outline) -> Iterator[Facts]:
    """The messages of the open tool loop that make calls, newest first; none if the last answer made no calls."""
    for item in reversed(outline.items[outline.last_user + 1 :]):
        if isinstance(item, Unit) and item.kind == "batch":
            if not item.entries[0].calls:
                return
            yield item.entries[0]
