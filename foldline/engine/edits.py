"""Edits as data, and the live edits: those in force on a path after all its compactions, undos and redos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

OMIT_IMAGES: Final = "omit_images"
Kind: TypeAlias = Literal["clear", "supersede", "excerpt", "omit_images", "condense", "hide", "interim"]


class Edit(NamedTuple):
    """One edit of the entries with the seqs `first` to `last`, both included; they are equal for an edit of one entry.

    `clear`: a placeholder replaces a result's content. `supersede`: a pointer to a later read replaces it. `excerpt`: a
    result's content is cut to `excerpts.LEVELS[level]` characters; in a message with calls, each string argument is cut
    to those of level 0. `omit_images`: a line of text replaces each of the entry's first `level` images. `hide`: a
    marker replaces the range. `interim`: the interim summary with the id `summary` stands for a hidden run of `level`
    messages; without one, a marker that says how many. `condense`: the summary with the id `summary` replaces the range
    and the live summaries `replaces`. The message of both takes `tokens`; the originals took `original_tokens`.
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
    """The edits in force on a path, after all its compactions, undos and redos.

    `cells` maps the seq of an entry to the edit of its text, `images` to the edit that leaves images of it out; the
    entry is in no summary. `hidden` are seq ranges, oldest first. `interims` are the interim summaries of hidden runs;
    one of a run that has other ends now is not shown. `condensed` are the outermost summaries, disjoint and oldest
    first. `barred` are the ranges whose summary was undone. They are summarized again only on request, or after they
    had to be hidden. Bound reasoning of entries before the seq `reasoning_from` is left out, because the provider
    refused it.
    """

    cells: Mapping[int, Edit] = field(default_factory=lambda: MappingProxyType({}))
    hidden: tuple[tuple[int, int], ...] = ()
    condensed: tuple[Edit, ...] = ()
    barred: tuple[tuple[int, int], ...] = ()
    reasoning_from: int = 0
    images: Mapping[int, Edit] = field(default_factory=lambda: MappingProxyType({}))
    interims: tuple[Edit, ...] = ()

    def changes(self, seq: int) -> bool:
        """Whether an edit changes this entry, and not only its place."""
        return seq in self.cells or seq in self.images

    def adding(self, edits: Iterable[Edit]) -> LiveEdits:
        """The live edits after these new edits."""
        cells, images = dict(self.cells), dict(self.images)
        hidden, condensed, interims = list(self.hidden), list(self.condensed), list(self.interims)
        for edit in edits:
            # Inside a new hidden run, older ones still say how much is hidden there.
            if edit.kind in {"condense", "interim"}:
                interims = [other for other in interims if not _overlap(other, edit)]
            elif edit.kind == "hide":
                interims = [other for other in interims if _within(other, edit) or not _overlap(other, edit)]
            if edit.kind == "condense":
                condensed = [other for other in condensed if not _within(other, edit)]
                condensed.append(edit)
            elif edit.kind == "hide":
                hidden = [span for span in hidden if not within(*span, [(edit.first, edit.last)])]
                hidden.append((edit.first, edit.last))
            elif edit.kind == "interim":
                interims.append(edit)
            elif edit.kind == OMIT_IMAGES:
                images[edit.first] = edit
            else:
                cells[edit.first] = edit
        condensed.sort(key=_first)
        return LiveEdits(
            _outside(cells, condensed),
            tuple(sorted({span for span in hidden if not covered(*span, condensed)})),
            tuple(condensed),
            self.barred,
            self.reasoning_from,
            _outside(images, condensed),
            tuple(sorted(interims, key=_first)),
        )

    def first_difference(self, other: LiveEdits) -> int | None:
        """The first seq that shows differently under the other edits; None if all entries show the same.

        What reasoning is left out does not count.
        """
        hidden = {*self.hidden} ^ {*other.hidden}
        runs = set(map(_shown, (*self.condensed, *self.interims))) ^ set(
            map(_shown, (*other.condensed, *other.interims))
        )
        firsts = [*(first for first, _ in hidden), *(run[0] for run in runs)]
        entries = (*_differing(self.cells, other.cells), *_differing(self.images, other.images))
        return min((*firsts, *entries), default=None)

    def with_originals(self, condensed: Edit, before: LiveEdits) -> LiveEdits:
        """The same edits, but with what `before` had in the place of this summary, and what was refused then."""
        inside = [(condensed.first, condensed.last)]
        return replace(
            self,
            cells={**self.cells, **{seq: edit for seq, edit in before.cells.items() if within(seq, seq, inside)}},
            images={**self.images, **{seq: edit for seq, edit in before.images.items() if within(seq, seq, inside)}},
            hidden=tuple(sorted({*self.hidden, *(span for span in before.hidden if within(*span, inside))})),
            condensed=(
                *(edit for edit in before.condensed if _within(edit, condensed)),
                *(edit for edit in self.condensed if edit != condensed),
            ),
            reasoning_from=before.reasoning_from,
            interims=(*self.interims, *(edit for edit in before.interims if _within(edit, condensed))),
        )

    def without_hidden(self) -> LiveEdits:
        """The same edits, without those of the texts of hidden entries."""
        cells = {seq: edit for seq, edit in self.cells.items() if not within(seq, seq, self.hidden)}
        return replace(self, cells=cells)

    def barring(self, spans: Iterable[tuple[int, int]]) -> LiveEdits:
        """The same edits, with exactly these ranges barred."""
        return replace(self, barred=tuple(spans))


def covered(first: int, last: int, condensed: Sequence[Edit]) -> bool:
    """Whether one of the summaries covers the whole range."""
    return any(edit.first <= first and last <= edit.last for edit in condensed)


def within(first: int, last: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether one of the spans contains the whole range."""
    return any(low <= first and last <= high for low, high in spans)


def _shown(edit: Edit) -> tuple[int, int, str, int, str]:
    """What of an edit a view shows."""
    return edit.first, edit.last, edit.kind, edit.level, edit.summary


def _differing(one: Mapping[int, Edit], other: Mapping[int, Edit]) -> Iterator[int]:
    """The seqs of the entries whose edits show differently."""
    yield from one.keys() ^ other.keys()
    for seq in one.keys() & other.keys():
        # Most edits are the same object: those of before are kept.
        if one[seq] is not other[seq] and _shown(one[seq]) != _shown(other[seq]):
            yield seq


def _outside(edits: Mapping[int, Edit], condensed: Sequence[Edit]) -> dict[int, Edit]:
    """The edits of entries that no summary covers."""
    if not condensed:
        return dict(edits)
    return {seq: edit for seq, edit in edits.items() if not covered(seq, seq, condensed)}


def _within(inner: Edit, outer: Edit) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last


def _overlap(one: Edit, other: Edit) -> bool:
    return one.first <= other.last and other.first <= one.last


def _first(edit: Edit) -> int:
    return edit.first


def to_json(live: LiveEdits) -> dict[str, Any]:
    """The live edits as JSON; `from_json` is its inverse."""
    return {
        "cells": [*live.cells.values(), *live.images.values()],
        "hidden": live.hidden,
        "condensed": live.condensed,
        "barred": live.barred,
        **({"reasoning_from": live.reasoning_from} if live.reasoning_from else {}),
        **({"interims": live.interims} if live.interims else {}),
    }


def from_json(values: Mapping[str, Any]) -> LiveEdits:
    """The live edits that `to_json` wrote."""
    cells = edits_from_json(values["cells"])
    return LiveEdits(
        {edit.first: edit for edit in cells if edit.kind != OMIT_IMAGES},
        _spans(values["hidden"]),
        edits_from_json(values["condensed"]),
        _spans(values["barred"]),
        values.get("reasoning_from", 0),
        {edit.first: edit for edit in cells if edit.kind == OMIT_IMAGES},
        edits_from_json(values.get("interims", ())),
    )


def edits_from_json(values: Iterable[Sequence[Any]]) -> tuple[Edit, ...]:
    """Edits from their JSON arrays."""
    return tuple(Edit(*value)._replace(replaces=tuple(value[-1])) for value in values)


def _spans(values: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in values)
