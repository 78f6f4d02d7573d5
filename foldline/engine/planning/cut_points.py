"""Cut points: which range of a path the next summary covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from foldline.engine.edits import within
from foldline.engine.models.budget import SMALLEST_SUMMARY, Goals
from foldline.engine.outline import Item, Outline, Summarized, Unit
from foldline.engine.wording import summary_frame_tokens

TURN_KINDS: Final = frozenset({"user", "note"})


@dataclass(frozen=True, slots=True)
class SummaryRange:
    """What a summary will cover: the messages from `first` to `last`, and the live summaries in between.

    Tokens are unscaled. `saving` is what the view shrinks by if the summary takes all it may; below 0 when what it
    covers is hidden already.
    """

    first: int
    last: int
    replaces: tuple[str, ...]
    original_tokens: int
    saving: int
    is_pending: bool
    max_tokens: int


def next_range(outline: Outline, goals: Goals, window_tokens: int, due: int, *, is_asked: bool) -> SummaryRange | None:
    """The oldest range worth a summary, pending ones first; None if nothing is left to summarize.

    `due` is how many items, from the oldest, are old enough (`recent.due_items`). A range ends before the last user
    message or starts after it. It covers whole units, at most `window_tokens` of input, but at least one unit and
    enough originals to be larger than the smallest summary.
    """
    ranges = list(_ranges(outline, goals, window_tokens, due, is_asked=is_asked))
    worthwhile = (r for r in ranges if is_asked or r.saving >= goals.minimum_saving)
    return next((r for r in ranges if r.is_pending), None) or next(worthwhile, None)


def turn_split_at(outline: Outline, seq: int) -> int | None:
    """The seq at which the turn begins that a cut before `seq` splits; None if it splits none.

    What is neither the assistant's nor a tool's begins a turn here: a message of the user, or a note.
    """
    starts = [item.first for item in outline.items if isinstance(item, Unit) and item.kind in TURN_KINDS]
    start = max((start for start in starts if start <= seq), default=None)
    return None if start == seq else start


def _ranges(outline: Outline, goals: Goals, window_tokens: int, due: int, *, is_asked: bool) -> Iterator[SummaryRange]:
    wanted = _wanted(outline, due, is_asked=is_asked)
    user = outline.last_user
    for start, stop in ((0, max(user, 0)), (user + 1, len(outline.items))):
        index = start
        while index < stop:
            run = _run(outline.items, wanted, index, stop, window_tokens)
            found = _range_of(run, goals)
            if found is not None:
                yield found
            index += max(1, len(run))


def _wanted(outline: Outline, due: int, *, is_asked: bool) -> list[bool]:
    """For each item, whether a summary may cover it: live summaries, hidden units, and what is old enough."""
    barred = () if is_asked else outline.live.barred

    def is_wanted(index: int, item: Item) -> bool:
        if isinstance(item, Summarized) or item.is_hidden:
            return True
        return index < due and not item.is_open and not within(item.first, item.last, barred)

    return [is_wanted(index, item) for index, item in enumerate(outline.items)]


def _run(items: list[Item], wanted: list[bool], start: int, stop: int, window_tokens: int) -> list[Item]:
    """Neighbouring wanted items from `start` on that fit the window together, or as few as make a range."""
    run: list[Item] = []
    input_tokens = original_tokens = 0
    has_units = False
    for index in range(start, stop):
        item = items[index]
        if not wanted[index]:
            break
        is_unit = isinstance(item, Unit)
        added = item.original_tokens if isinstance(item, Unit) else item.edit.tokens
        is_enough = has_units and original_tokens > SMALLEST_SUMMARY + summary_frame_tokens()
        if is_enough and input_tokens + added > window_tokens:
            break
        run.append(item)
        input_tokens += added
        original_tokens += item.original_tokens
        has_units = has_units or is_unit
    return run


def _range_of(run: list[Item], goals: Goals) -> SummaryRange | None:
    units = [item for item in run if isinstance(item, Unit)]
    replaced = [item for item in run if isinstance(item, Summarized)]
    original_tokens = sum(item.original_tokens for item in run)
    shown = sum(unit.tokens for unit in units if not unit.is_hidden) + sum(item.edit.tokens for item in replaced)
    is_pending = any(unit.is_hidden for unit in units)
    # Only what is hidden already may take more room as a summary than it does now.
    most = original_tokens if is_pending else min(original_tokens, shown)
    max_tokens = min(goals.summary_max, most - summary_frame_tokens() - 1)
    if not units or max_tokens < SMALLEST_SUMMARY:
        return None
    return SummaryRange(
        first=run[0].first,
        last=run[-1].last,
        replaces=tuple(item.edit.summary for item in replaced),
        original_tokens=original_tokens,
        saving=shown - max_tokens - summary_frame_tokens(),
        is_pending=is_pending,
        max_tokens=max_tokens,
    )
