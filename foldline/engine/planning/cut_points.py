"""Cut points: the range of a path that the next summary covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from foldline.engine.edits import within
from foldline.engine.models.budget import SMALLEST_SUMMARY, UNBOUNDED, Goals
from foldline.engine.outline import Item, Outline, Summarized, Unit
from foldline.engine.wording import summary_frame_tokens

TURN_KINDS: Final = frozenset({"user", "note"})
# The most that a summary may take: of the originals it covers, so that the range saves something wherever the policy's
# largest summary is longer than one input of the summarizer; and of that input, so that the next summary, which
# replaces it, can read something new beside it. It may have the least length in any case.
LENGTH_SHARE: Final = 0.4
INPUT_SHARE: Final = 0.25
LEAST_LENGTH: Final = 256
# The saving that is always worth a summary, as a share of one input.
ENOUGH_SHARE: Final = 0.5


class Held(StrEnum):
    """Why messages in view stay there, although the view is over the trigger."""

    BARRED = "barred"  # A compaction of them was undone.
    RECENT = "recent"
    OPEN_CALLS = "open_calls"
    TOO_LITTLE = "too_little"  # They are old enough, and a summary of them would save less than the policy's minimum.


class InputLimits(NamedTuple):
    """What a summarizer reads: the tokens of one call, and those of all its calls for one summary."""

    tokens: int
    most: int


# As if a summarizer read any range at once.
_ALL: Final = InputLimits(UNBOUNDED, UNBOUNDED)


@dataclass(frozen=True, slots=True)
class SummaryRange:
    """The range of a summary: the messages with the seqs `first` to `last`, and the live summaries `replaces` in it.

    Tokens are unscaled. The text of the summary may take `max_tokens`. `saving` is the saving in view if it takes all
    of them; it is below 0 if hidden messages become a summary. `is_pending`: some of the messages are hidden.
    """

    first: int
    last: int
    replaces: tuple[str, ...]
    original_tokens: int
    saving: int
    is_pending: bool
    max_tokens: int


def next_range(outline: Outline, goals: Goals, reads: InputLimits, due: int, *, is_asked: bool) -> SummaryRange | None:
    """The oldest range that is worth a summary, pending ranges first; None if nothing is left to summarize.

    `due` is the number of items, from the oldest, that are old enough (`recent.due_items`). A range never includes the
    last user message. It consists of whole units. Its input is at most what the summarizer `reads`, except that it has
    at least one unit, and originals that are larger than the smallest summary.
    """
    # In a large window, one input may have less than the policy's minimum.
    least = min(goals.minimum_saving, int(reads.tokens * ENOUGH_SHARE))
    ranges = list(_ranges(outline, goals, reads, due, least=0 if is_asked else least, is_asked=is_asked))
    worthwhile = (r for r in ranges if is_asked or r.saving >= least)
    return next((r for r in ranges if r.is_pending), None) or next(worthwhile, None)


def requested_ranges(outline: Outline, goals: Goals, due: int) -> list[SummaryRange]:
    """The ranges that a request leaves a summary for, however many jobs write each: one before the last user message,
    and one after it if more than that is due, as the message itself stays.
    """
    return list(_ranges(outline, goals, _ALL, due, least=0, is_asked=True))


def leading_range(outline: Outline, goals: Goals, due: int, *, is_asked: bool) -> SummaryRange | None:
    """All that is due from the beginning of the view on, for a provider's own compaction; None if it cannot have that.

    Unlike a summarizer, a provider reads what the view shows, and takes the view's beginning only: so it cannot
    summarize hidden messages, nor what follows the last user message, which stays.
    """
    wanted = _wanted(outline, due, is_asked=is_asked)
    stop = next((index for index, is_wanted in enumerate(wanted) if not is_wanted), len(wanted))
    run = outline.items[: min(stop, max(outline.last_user, 0))]
    found = _range_of(run, outline, goals, sum(item.original_tokens for item in run)) if run else None
    if found is None or found.is_pending:
        return None
    return found if is_asked or found.saving >= goals.minimum_saving else None


def why_none(outline: Outline, due: int, *, is_asked: bool) -> Held:
    """What holds back the most tokens of the view, where `next_range` found no range for the same arguments."""
    barred = () if is_asked else outline.live.barred
    tokens: Counter[Held] = Counter()
    for index, item in enumerate(outline.items):
        if isinstance(item, Unit) and not item.is_hidden:
            tokens[_held_by(item, barred, is_recent=index >= due or index == outline.last_user)] += item.tokens
    return max(tokens, key=tokens.__getitem__, default=Held.TOO_LITTLE)


def _held_by(unit: Unit, barred: Sequence[tuple[int, int]], *, is_recent: bool) -> Held:
    if unit.is_open:
        return Held.OPEN_CALLS
    if is_recent:
        return Held.RECENT
    return Held.BARRED if within(unit.first, unit.last, barred) else Held.TOO_LITTLE


def turn_split_at(outline: Outline, seq: int) -> int | None:
    """The seq of the first entry of the turn that a cut before `seq` splits; None if it splits no turn.

    A turn begins here at a user message or a note, which is any message of neither the assistant nor a tool.
    """
    starts = [item.first for item in outline.items if isinstance(item, Unit) and item.kind in TURN_KINDS]
    start = max((start for start in starts if start <= seq), default=None)
    return None if start == seq else start


def _ranges(
    outline: Outline, goals: Goals, reads: InputLimits, due: int, *, least: int, is_asked: bool
) -> Iterator[SummaryRange]:
    wanted = _wanted(outline, due, is_asked=is_asked)
    user = outline.last_user
    for start, stop in ((0, max(user, 0)), (user + 1, len(outline.items))):
        index = start
        while index < stop:
            run = _run(outline.items, wanted, index, stop, reads.most)
            found = _range_of(run, outline, goals, reads.tokens, least)
            if found is not None:
                yield found
            index += max(1, len(run))


def _wanted(outline: Outline, due: int, *, is_asked: bool) -> list[bool]:
    """For each item, whether a summary may cover it: live summaries, hidden units, and units that are old enough."""
    barred = () if is_asked else outline.live.barred

    def is_wanted(index: int, item: Item) -> bool:
        if isinstance(item, Summarized) or item.is_hidden:
            return True
        return index < due and not item.is_open and not within(item.first, item.last, barred)

    return [is_wanted(index, item) for index, item in enumerate(outline.items)]


def _run(items: list[Item], wanted: list[bool], start: int, stop: int, most_tokens: int) -> list[Item]:
    """The wanted items from `start` on, without a gap, of `most_tokens` together, or the fewest for a range."""
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
        if is_enough and input_tokens + added > most_tokens:
            break
        run.append(item)
        input_tokens += added
        original_tokens += item.original_tokens
        has_units = has_units or is_unit
    return run


def _range_of(run: list[Item], outline: Outline, goals: Goals, call_tokens: int, least: int = 0) -> SummaryRange | None:
    units = [item for item in run if isinstance(item, Unit)]
    replaced = [item for item in run if isinstance(item, Summarized)]
    original_tokens = sum(item.original_tokens for item in run)
    shown = sum(unit.tokens for unit in units if not unit.is_hidden) + sum(item.edit.tokens for item in replaced)
    is_pending = any(unit.is_hidden for unit in units)
    # Only a summary of hidden messages may take more room than they take now.
    most = original_tokens if is_pending else min(original_tokens, shown)
    if not units:
        return None
    length = max(LEAST_LENGTH, int(min(original_tokens * LENGTH_SHARE, call_tokens * INPUT_SHARE)))
    wanted = goals.summary_max
    if goals.is_named:
        wanted = max(wanted, _left_of_target(run, outline, goals, shown))
    max_tokens = min(wanted, length, most - summary_frame_tokens() - 1)
    if not is_pending:
        # Short enough to be worth it, if there is room for one that says something.
        max_tokens = min(max_tokens, max(LEAST_LENGTH, shown - least - summary_frame_tokens()))
    if max_tokens < SMALLEST_SUMMARY:
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


def _left_of_target(run: list[Item], outline: Outline, goals: Goals, shown: int) -> int:
    """What the rest of the view leaves of the target for the summary of a run that now shows `shown` tokens."""
    first, last = run[0].first, run[-1].last
    interims = (found.interim for found in outline.runs if found.interim)
    replaced = sum(edit.tokens for edit in interims if first <= edit.first and edit.last <= last)
    return goals.target - (outline.tokens - shown - replaced) - summary_frame_tokens()
