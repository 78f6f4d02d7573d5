"""The outline: the facts along a path, grouped into units and seen through the live edits.

Stages and cut points read the outline and nothing else; no message is in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from foldline.engine.edits import Edit, LiveEdits, covered, within
from foldline.engine.facts import Facts
from foldline.engine.tokens.measures import Measure, exact_measure


@dataclass(frozen=True, slots=True)
class Sums:
    """Running totals over the items of an outline, so that a range of items costs one subtraction.

    At each index: `shown` has the tokens in view of the units before it, `originals` their original tokens, `markers`
    those of the interim summaries and markers of hidden runs that begin before it.
    """

    shown: Sequence[int]
    originals: Sequence[int]
    markers: Sequence[int]


class HiddenRun(NamedTuple):
    """A maximal run of hidden units: the indexes of its items, `stop` excluded, and its interim summary, if any."""

    start: int
    stop: int
    interim: Edit | None = None


UnitKind: TypeAlias = Literal["user", "batch", "late", "note"]
_KINDS: dict[str, UnitKind] = {"user": "user", "assistant": "batch", "tool": "late"}


@dataclass(slots=True)
class Unit:
    """A batch, or a message outside any batch. A unit is hidden or summarized as a whole, never in part.

    `tokens` is its size when shown. `unanswered` is the number of its calls without a result. A hidden run whose
    entries nobody read is one unit without entries: `unread` is the edit that says how many there are.
    """

    entries: list[Facts]
    kind: UnitKind
    tokens: int
    original_tokens: int
    unanswered: int = 0
    is_open: bool = False
    is_hidden: bool = False
    unread: Edit | None = None
    # The fewest tokens that it can take in view, once somebody has asked: an edit makes another unit.
    least_tokens: int | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def first(self) -> int:
        """Seq of its first entry."""
        return self.unread.first if self.unread else self.entries[0].seq

    @property
    def last(self) -> int:
        """Seq of its last entry."""
        return self.unread.last if self.unread else self.entries[-1].seq

    @property
    def messages(self) -> int:
        """The number of its messages."""
        return self.unread.level if self.unread else len(self.entries)

    def hidden(self) -> Unit:
        """The same unit, hidden."""
        sizes = self.tokens, self.original_tokens, self.unanswered
        return Unit(self.entries, self.kind, *sizes, self.is_open, is_hidden=True, unread=self.unread)


@dataclass(slots=True)
class Summarized:
    """A live summary in the place of the units it covers."""

    edit: Edit

    @property
    def first(self) -> int:
        """Seq of the first entry it covers."""
        return self.edit.first

    @property
    def last(self) -> int:
        """Seq of the last entry it covers."""
        return self.edit.last

    @property
    def original_tokens(self) -> int:
        """Tokens of the originals it covers."""
        return self.edit.original_tokens


Item: TypeAlias = Unit | Summarized


@dataclass(slots=True)
class Outline:
    """The items of a path, oldest first.

    `tokens` is the size of the view by `measure`, unscaled. It leaves out the fixed parts and the stubs of an open
    batch. `exact` is the exactly counted outline if this one is an estimate. `last_user` is the index of the last user
    message, -1 if there is none. `summarized` are the indexes of the live summaries, `runs` the hidden runs.
    """

    items: list[Item]
    live: LiveEdits
    tokens: int
    last_user: int
    summarized: list[int]
    runs: list[HiddenRun]
    sums: Sums
    measure: Measure
    exact: Outline | None = None
    # At each index, the fewest tokens that so many of the newest items can take in view, as far as somebody asked.
    _leasts: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)
    _results: list[tuple[int, Facts]] | None = field(default=None, init=False, repr=False, compare=False)
    # This outline under the measure that was asked for last, which does not refer back to it.
    _measured: Outline | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def results(self) -> list[tuple[int, Facts]]:
        """The tool results in view, oldest first, each with the index of its item."""
        if self._results is None:
            self._results = [
                (index, entry)
                for index, item in enumerate(self.items)
                if isinstance(item, Unit) and not item.is_hidden
                for entry in item.entries
                if entry.role == "tool"
            ]
        return self._results

    @property
    def pending_tokens(self) -> int:
        """Original tokens of the units that are hidden and not yet summarized."""
        return sum(item.original_tokens for item in self.items if isinstance(item, Unit) and item.is_hidden)

    @property
    def least_tokens(self) -> int:
        """Tokens that no compaction brings the view below: the last user message and the open batch stay."""
        last = self.items[self.last_user] if self.last_user >= 0 else None
        return sum(unit.tokens for unit in (last, self.open_unit) if isinstance(unit, Unit))

    @property
    def open_unit(self) -> Unit | None:
        """The last batch, if some of its calls wait for a result."""
        last = self.items[-1] if self.items else None
        return last if isinstance(last, Unit) and last.is_open else None

    @property
    def closed(self) -> int:
        """The number of items without the open batch, which can only be the last item."""
        return len(self.items) - (self.open_unit is not None)

    @property
    def hidden_until(self) -> int:
        """The number of items, from the oldest, that end with the last hidden unit; 0 if none is hidden."""
        hidden = (index for index, item in enumerate(self.items, 1) if isinstance(item, Unit) and item.is_hidden)
        return max(hidden, default=0)

    @property
    def is_whole(self) -> bool:
        """Whether it has the facts of all entries that no summary covers."""
        return not self._unread()

    @property
    def summaries(self) -> list[str]:
        """The ids of the summaries in view, interim ones too."""
        shown = (*self.live.condensed, *(run.interim for run in self.runs if run.interim))
        return [edit.summary for edit in shown if edit.summary]

    @property
    def turn_starts(self) -> list[int]:
        """The indexes at which turns begin: the first item, and each user message in view."""
        users = [index for index, item in enumerate(self.items) if _is_user(item)]
        return users if users[:1] == [0] or not self.items else [0, *users]

    def first_in_view(self, start: int) -> int:
        """The index of the first unit in view from this item on; the number of items if there is none."""
        indexes = range(start, len(self.items))
        shown = (index for index in indexes if isinstance(item := self.items[index], Unit) and not item.is_hidden)
        return next(shown, len(self.items))

    def is_hidden(self, index: int) -> bool:
        """Whether this item is a hidden unit, or a part of a hidden run."""
        item = self.items[index]
        return isinstance(item, Unit) and item.is_hidden

    def entries_in_view(self) -> Iterator[Facts]:
        """The entries of the units in view, oldest first."""
        for item in self.items:
            if isinstance(item, Unit) and not item.is_hidden:
                yield from item.entries

    def shown(self, entry: Facts, cell: Edit | None) -> int:
        """Tokens of an entry in view with this edit of its text, without the images that are left out."""
        return self.measure.shown(self._without_images(entry), cell)

    def _without_images(self, entry: Facts) -> Facts:
        images = self.live.images
        return self.measure.without_images(entry, images.get(entry.seq)) if images else entry

    def horizon(self, tokens: int) -> int:
        """The first index from which on the items can be brought down to these tokens without hiding any."""
        if self.sums.shown[-1] + sum(edit.tokens for edit in self.live.condensed) <= tokens:
            return 0
        leasts, count = self._leasts, len(self.items)
        while leasts[-1] <= tokens and len(leasts) <= count:
            leasts.append(leasts[-1] + self._least(self.items[-len(leasts)]))
        return min(count, count + 1 - bisect_right(leasts, tokens))

    def _least(self, item: Item) -> int:
        """The fewest tokens that an item can take in view; 0 if it is hidden."""
        if isinstance(item, Summarized):
            return item.edit.tokens
        if item.is_hidden:
            return 0
        if item.least_tokens is None:
            item.least_tokens = item.tokens - sum(map(self._saving, item.entries))
        return item.least_tokens

    def _saving(self, entry: Facts) -> int:
        """The most tokens that one more edit of an entry's text saves."""
        shown = self._without_images(entry)
        return max(0, self.measure.shown(shown, self.live.cells.get(entry.seq)) - self.measure.least(shown))

    def results_from(self, index: int) -> list[tuple[int, Facts]]:
        """The results in view from this item on, each with the index of its item."""
        return self.results[bisect_left(self.results, index, key=itemgetter(0)) :]

    def edited(self, edits: Iterable[Edit]) -> Outline:
        """The outline after these edits."""
        edits = list(edits)
        live = self.live.adding(edits)
        if any(edit.kind == "condense" for edit in edits):
            after = outline_of(self._entries(), live, self.measure, unread=self._unread())
        else:
            after = _assembled(_edited(self.items, edits, live, self.measure), live, self.measure)
        return after if self.exact is None else replace(after, exact=self.exact.edited(edits))

    def without_interims(self) -> Outline:
        """The outline with a marker in the place of each interim summary; this outline must be counted exactly."""
        return _assembled(self.items, replace(self.live, interims=()), self.measure)

    def adding(self, entry: Facts) -> Outline:
        """The outline with one more entry at its end; this outline must be counted exactly."""
        return outline_of([*self._entries(), entry], self.live, self.measure, unread=self._unread())

    def with_entries(self, entries: Iterable[Facts], *, is_whole: bool) -> Outline:
        """The outline with these entries at its end.

        Unless it `is_whole`, the entries of hidden runs are forgotten: each of these runs has an interim summary or a
        marker, which says how many there are.
        """
        waiting = self.open_unit.entries if self.open_unit else []
        units = _closed_but_last(_units([*waiting, *entries], self.live, self.measure), self.measure)
        items = [*self.items[: self.closed], *units]
        live = self.live
        if not is_whole and any(isinstance(item, Unit) and item.is_hidden and item.entries for item in items):
            live = live.without_hidden()
            shown = (item for item in items if isinstance(item, Summarized) or not item.is_hidden)
            items = sorted([*shown, *map(_unread, live.interims)], key=_first)
        return _assembled(items, live, self.measure)

    def measured(self, measure: Measure) -> Outline:
        """The same items under another measure; this outline must be counted exactly."""
        if measure is self.measure:
            return self
        if self._measured is None or self._measured.measure is not measure:
            entries = map(measure.counted, self._entries())
            self._measured = outline_of(entries, self.live, measure, unread=self._unread())
        return replace(self._measured, exact=self)

    def is_worth_a_summary(self, start: int, stop: int) -> bool:
        """Whether the originals of the items from `start` up to `stop` are larger than the smallest summary.

        The exact count decides if there is one.
        """
        outline = self.exact or self
        originals = outline.sums.originals
        return originals[stop] - originals[start] > outline.measure.least_pending

    def _entries(self) -> list[Facts]:
        return [entry for item in self.items if isinstance(item, Unit) for entry in item.entries]

    def _unread(self) -> list[Edit]:
        return [item.unread for item in self.items if isinstance(item, Unit) and item.unread]


def outline_of(
    facts: Iterable[Facts], live: LiveEdits, measure: Measure | None = None, *, unread: Iterable[Edit] = ()
) -> Outline:
    """The outline of a path.

    `facts` are those of its messages, oldest first; facts that a live summary covers are left out. They must be counted
    by `measure` already. Without a measure they are counted exactly. `unread` are the edits of interim summaries whose
    messages are not among the facts: each is one hidden unit.
    """
    measure = measure or exact_measure()
    units = _closed_but_last(_units(facts, live, measure), measure)
    for unit in units if live.hidden else ():
        unit.is_hidden = within(unit.first, unit.last, live.hidden)
    items: list[Item] = [*units, *map(_unread, unread), *map(Summarized, live.condensed)]
    items.sort(key=_first)
    return _assembled(items, live, measure)


def _unread(edit: Edit) -> Unit:
    """The hidden unit of an interim summary whose entries nobody read."""
    return Unit([], "note", 0, edit.original_tokens, is_hidden=True, unread=edit)


def _closed_but_last(units: list[Unit], measure: Measure) -> list[Unit]:
    if units and units[-1].unanswered:
        _open(units[-1], measure.stub)
    return units


def _assembled(items: list[Item], live: LiveEdits, measure: Measure) -> Outline:
    """The outline of these items, which are after the live edits and in order."""
    last_user, summarized = -1, []
    shown, originals = [0], [0]
    in_view = 0
    for index, item in enumerate(items):
        originals.append(originals[-1] + item.original_tokens)
        if isinstance(item, Summarized):
            summarized.append(index)
        elif not item.is_hidden:
            in_view += item.tokens
            last_user = index if item.kind == "user" else last_user
        shown.append(in_view)
    runs = list(_runs(items, live)) if live.hidden else []
    sums = Sums(shown, originals, _markers(len(items), runs, measure.marker))
    tokens = in_view + sums.markers[-1] + sum(edit.tokens for edit in live.condensed)
    return Outline(items, live, tokens, last_user, summarized, runs, sums, measure)


def _edited(items: Sequence[Item], edits: Iterable[Edit], live: LiveEdits, measure: Measure) -> list[Item]:
    """The items after these edits, none of which adds a summary; items that no edit changes are shared."""
    after = list(items)
    firsts = [item.first for item in items]
    for edit in edits:
        if edit.kind == "hide":
            inside = slice(bisect_left(firsts, edit.first), bisect_right(items, edit.last, key=_last))
            after[inside] = [item.hidden() if isinstance(item, Unit) else item for item in after[inside]]
        elif edit.kind != "interim":
            index = bisect_right(firsts, edit.first) - 1
            after[index : index + 1] = [_remade(item, live, measure) for item in after[index : index + 1]]
    return after


def _remade(item: Item, live: LiveEdits, measure: Measure) -> Item:
    """The item with its texts edited anew."""
    if not isinstance(item, Unit) or not item.entries:
        return item
    (unit,) = _units(item.entries, live, measure)
    if item.is_open:
        _open(unit, measure.stub)
    unit.is_hidden = item.is_hidden
    return unit


def _open(unit: Unit, stub: int) -> None:
    """Mark a batch as open: it may still get its results, so its stubs are taken off."""
    stubs = stub * unit.unanswered
    unit.is_open = True
    unit.tokens -= stubs
    unit.original_tokens -= stubs


def _runs(items: list[Item], live: LiveEdits) -> Iterator[HiddenRun]:
    known = {(edit.first, edit.last): edit for edit in live.interims}
    hidden = [isinstance(item, Unit) and item.is_hidden for item in items]
    start = 0
    for is_hidden, group in groupby(hidden):
        stop = start + sum(1 for _ in group)
        if is_hidden:
            yield HiddenRun(start, stop, known.get((items[start].first, items[stop - 1].last)))
        start = stop


def _markers(count: int, runs: Iterable[HiddenRun], marker: int) -> list[int]:
    """The totals of `Sums.markers` for so many items."""
    totals: list[int] = []
    total = 0
    for run in runs:
        totals += [total] * (run.start + 1 - len(totals))
        total += run.interim.tokens if run.interim else marker
    return totals + [total] * (count + 1 - len(totals))


def _units(facts: Iterable[Facts], live: LiveEdits, measure: Measure) -> list[Unit]:
    units: list[Unit] = []
    stub = measure.stub
    for entry in facts:
        if live.condensed and covered(entry.seq, entry.seq, live.condensed):
            continue
        shown = measure.without_images(entry, live.images.get(entry.seq)) if live.images else entry
        tokens = measure.shown(shown, live.cells.get(entry.seq)) if live.cells else shown.tokens
        if units and units[-1].entries[0].seq == entry.unit != entry.seq:
            unit = units[-1]
            unit.entries.append(entry)
            if not entry.is_late:
                unit.unanswered -= 1
                tokens -= stub
            unit.tokens += tokens
            unit.original_tokens += entry.tokens if entry.is_late else entry.tokens - stub
        else:
            waiting = len(entry.calls)
            stubs = stub * waiting
            kind = _KINDS.get(entry.role, "note")
            units.append(Unit([entry], kind, tokens + stubs, entry.tokens + stubs, waiting))
    return units


def shown_messages(item: Item) -> int:
    """The number of messages of an item in view; a live summary is one, and what is hidden none."""
    if not isinstance(item, Unit):
        return 1
    return 0 if item.is_hidden else len(item.entries)


def _first(item: Item) -> int:
    return item.first


def _last(item: Item) -> int:
    return item.last


def _is_user(item: Item) -> bool:
    return isinstance(item, Unit) and item.kind == "user" and not item.is_hidden
