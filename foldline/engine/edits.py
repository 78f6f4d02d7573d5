"""Edits as data, and what a sequence of them amounts to on a path: the live edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["clear", "supersede", "excerpt", "condense", "hide"]


class Edit(NamedTuple):
    """One edit of the entries `first` to `last` (the same for an edit of one entry).

    `clear`, `supersede`: a result's content becomes a placeholder or a pointer. `excerpt`: a result's content is cut to
    the characters of `excerpts.LEVELS[level]`, or a call's string arguments to those of level 0. `hide`: the range
    becomes a marker. `condense`: the range becomes the summary `summary`, whose message takes `tokens`; the originals
    took `original_tokens`; the live summaries `replaces` go with it.
    """

    kind: Kind
    first: int
    last: int
    level: int = 0
    summary: str = ""
    tokens: int = 0
    original_tokens: int = 0
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveEdits:
    """What shows on a path, after all compactions, undos and redos on it.

    `cells` maps the seq of an entry that is not under a summary to its edit. `hidden` are seq ranges, oldest first.
    `condensed` are the outermost summaries, disjoint and oldest first. `barred` are ranges whose summary was undone:
    they are not summarized again unless asked, or unless they had to be hidden.
    """

    cells: Mapping[int, Edit] = field(default_factory=lambda: MappingProxyType({}))
    hidden: tuple[tuple[int, int], ...] = ()
    condensed: tuple[Edit, ...] = ()
    barred: tuple[tuple[int, int], ...] = ()

    def adding(self, edits: Iterable[Edit]) -> LiveEdits:
        """These edits and the given ones on top."""
        cells, hidden, condensed = dict(self.cells), list(self.hidden), list(self.condensed)
        for edit in edits:
            if edit.kind == "condense":
                condensed = [other for other in condensed if not _within(other, edit)]
                condensed.append(edit)
            elif edit.kind == "hide":
                hidden = [span for span in hidden if not within(*span, [(edit.first, edit.last)])]
                hidden.append((edit.first, edit.last))
            else:
                cells[edit.first] = edit
        condensed.sort(key=_first)
        return LiveEdits(
            {seq: edit for seq, edit in cells.items() if not covered(seq, seq, condensed)},
            tuple(sorted({span for span in hidden if not covered(*span, condensed)})),
            tuple(condensed),
            self.barred,
        )

    def barring(self, spans: Iterable[tuple[int, int]]) -> LiveEdits:
        """The same edits with these ranges barred, and no others."""
        return LiveEdits(self.cells, self.hidden, self.condensed, tuple(spans))


def covered(first: int, last: int, condensed: Sequence[Edit]) -> bool:
    """Whether the range lies under one of the summaries."""
    return any(edit.first <= first and last <= edit.last for edit in condensed)


def within(first: int, last: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether the range lies within one of the spans."""
    return any(low <= first and last <= high for low, high in spans)


def _within(inner: Edit, outer: Edit) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last


def _first(edit: Edit) -> int:
    return edit.first


def to_json(live: LiveEdits) -> dict[str, Any]:
    """The live edits as JSON; `from_json` is its inverse."""
    return {
        "cells": list(live.cells.values()),
        "hidden": live.hidden,
        "condensed": live.condensed,
        "barred": live.barred,
    }


def from_json(values: Mapping[str, Any]) -> LiveEdits:
    """The live edits that `to_json` wrote."""
    cells = edits_from_json(values["cells"])
    return LiveEdits(
        {edit.first: edit for edit in cells},
        _spans(values["hidden"]),
        edits_from_json(values["condensed"]),
        _spans(values["barred"]),
    )


def edits_from_json(values: Iterable[Sequence[Any]]) -> tuple[Edit, ...]:
    """Edits from their JSON arrays."""
    return tuple(Edit(*value)._replace(replaces=tuple(value[-1])) for value in values)


def _spans(values: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in values)
