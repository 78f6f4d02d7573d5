"""Which entries of a path are out of view, or in view only in part, and why."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from foldline.engine.edits import LiveEdits


class OutOfView(StrEnum):
    """Why an entry is not in view whole. The values are part of the API."""

    SUMMARIZED = "summarized"
    HIDDEN = "hidden"
    CLEARED = "cleared"
    SUPERSEDED = "superseded"
    EXCERPTED = "excerpted"


_BY_EDIT: Final = {"clear": OutOfView.CLEARED, "supersede": OutOfView.SUPERSEDED, "excerpt": OutOfView.EXCERPTED}


class Visibility:
    """What live edits say of each seq. A look-up costs the logarithm of the number of edits."""

    def __init__(self, live: LiveEdits) -> None:
        self._condensed = _Spans((edit.first, edit.last) for edit in live.condensed)
        self._hidden = _Spans(live.hidden)
        self._cells = live.cells

    def reason(self, seq: int) -> OutOfView | None:
        """Why the entry is not in view whole; None if it is."""
        if self._condensed.hold(seq):
            return OutOfView.SUMMARIZED
        if self._hidden.hold(seq):
            return OutOfView.HIDDEN
        cell = self._cells.get(seq)
        return None if cell is None else _BY_EDIT[cell.kind]


class _Spans:
    """Ranges of seqs, both ends included."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(spans):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        self._firsts: Sequence[int] = [first for first, _ in merged]
        self._lasts: Sequence[int] = [last for _, last in merged]

    def hold(self, seq: int) -> bool:
        index = bisect_right(self._firsts, seq) - 1
        return index >= 0 and seq <= self._lasts[index]
