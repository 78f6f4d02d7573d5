"""Interim summaries: the ledger of what is hidden, in its place until a summarizer's summary replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from foldline.engine.edits import Edit
from foldline.engine.ledger.assemble import Assembled, assembled
from foldline.engine.ledger.choice.candidates import candidates
from foldline.engine.ledger.choice.render import summary_of_lines
from foldline.engine.ledger.items import ItemAt, ItemKind
from foldline.engine.ledger.provenance import Provenance, together
from foldline.engine.ledger.snapshot import MOST_TOKENS, snapshot_of
from foldline.engine.models.budget import SMALLEST_SUMMARY, Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import HiddenRun, Outline, Unit
from foldline.engine.planning.cut_points import LEAST_LENGTH, LENGTH_SHARE
from foldline.engine.tokens.counter import MESSAGE, count_text
from foldline.engine.wording import hidden, interim_frame_tokens

# With fewer tokens there is no room for a rule.
SMALLEST_RULES: Final = 12
# What an interim summary carries on for the next one takes at most so many times its tokens: while a summarizer is
# down, each compaction reads it all again.
CARRIED_TIMES: Final = 10
# However little room there is now, the next one may have more.
LEAST_CARRIED: Final = 8_000


class InterimDue(NamedTuple):
    """A hidden run without an interim summary: the seqs at its ends, and its messages with their original tokens.

    The text may take `max_tokens`. If that is too little for a summary, the user's rules alone may take
    `max_rules_tokens`.
    """

    first: int
    last: int
    messages: int
    original_tokens: int
    max_tokens: int
    max_rules_tokens: int


class Interim(NamedTuple):
    """An interim summary: its text, the tokens of its message in a view, and the items that the next one chooses from.

    `provenance` is what it was made of. Without text it is a marker.
    """

    text: str
    tokens: int
    items: Sequence[ItemAt] = ()
    provenance: Provenance | None = None


def due(outline: Outline, goals: Goals, gauge: Gauge, *, most: int | None = None) -> list[InterimDue]:
    """The hidden runs without an interim summary, with their shares of the room; the outline must be counted exactly.

    In a view that does not fit, as its window has become smaller, those with one too: it was made for more room.
    Together they take half of the room below the trigger, so that the next compaction is far away; in a view over the
    trigger, half of the room that is left. With `most`, the view may take that many tokens instead.
    """
    outline = outline.without_interims() if are_too_large(outline, goals) else outline
    runs = [run for run in outline.runs if run.interim is None]
    if not runs:
        return []
    room = min(goals.summary_max, _room(outline, goals, gauge)) if most is None else most - outline.tokens
    left = goals.limit - outline.tokens if most is None else most - outline.tokens
    originals = [outline.sums.originals[run.stop] - outline.sums.originals[run.start] for run in runs]
    whole = max(1, sum(originals))
    return [
        _due(outline, run, tokens, (room * tokens // whole, left * tokens // whole))
        for run, tokens in zip(runs, originals, strict=True)
    ]


def are_too_large(outline: Outline, goals: Goals) -> bool:
    """Whether there are interim summaries, and not only markers, in a view that does not fit."""
    return outline.tokens > goals.limit and any(run.interim and run.interim.summary for run in outline.runs)


def _room(outline: Outline, goals: Goals, gauge: Gauge) -> int:
    """The room by the exact count, or by the policy's if that is smaller."""
    seen = outline.measured(gauge.measure)
    return min(_half(outline.tokens, goals), _half(seen.tokens, gauge.goals))


def _half(tokens: int, goals: Goals) -> int:
    return ((goals.trigger if tokens < goals.trigger else goals.limit) - tokens) // 2


def _due(outline: Outline, run: HiddenRun, original_tokens: int, rooms: tuple[int, int]) -> InterimDue:
    items = outline.items[run.start : run.stop]
    messages = sum(item.messages for item in items if isinstance(item, Unit))
    frame = interim_frame_tokens(messages)
    most, most_rules = (min(room + outline.measure.marker, original_tokens - 1) - frame for room in rooms)
    length = max(LEAST_LENGTH, int(original_tokens * LENGTH_SHARE))
    return InterimDue(items[0].first, items[-1].last, messages, original_tokens, min(most, length), most_rules)


def interim_of(items: Iterable[ItemAt], wanted: InterimDue, headings: str, dismissed: Iterable[ItemAt] = ()) -> Interim:
    """The interim summary of these items under the headings of a policy; a marker if there is no room or no item.

    The next one chooses from these items and from those that are `dismissed` now.
    """
    chooses_from, left_out = candidates(items)
    found, most = assembled(chooses_from), wanted.max_tokens
    chosen = found
    if most < SMALLEST_SUMMARY:
        rules = [line for line in found.current if line.item.kind is ItemKind.RULE]
        chosen, most = Assembled(rules, []), wanted.max_rules_tokens
    if not chosen.current or most < SMALLEST_RULES:
        return marker_of(wanted)
    text, choice, provenance = summary_of_lines(chosen, most, headings)
    if not choice.lines and most < SMALLEST_SUMMARY:
        return marker_of(wanted)
    tokens = interim_frame_tokens(wanted.messages) + count_text(text)
    most = min(max(CARRIED_TIMES * wanted.max_tokens, LEAST_CARRIED), MOST_TOKENS)
    made_of = together([provenance, Provenance(recallable=left_out)])
    return Interim(text, tokens, snapshot_of(found.current, dismissed, most), made_of)


def marker_of(wanted: InterimDue) -> Interim:
    """A marker that says how many messages are hidden."""
    return Interim("", MESSAGE + count_text(hidden(wanted.messages)))


def edit_of(wanted: InterimDue, interim: Interim, summary: str = "") -> Edit:
    """The edit that shows an interim summary; `summary` is the id of its text, empty if it is a marker."""
    ends, originals = (wanted.first, wanted.last), wanted.original_tokens
    return Edit("interim", *ends, wanted.messages, summary, interim.tokens, originals)
