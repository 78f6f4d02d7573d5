"""The cut that a summary request would make now, for a dry run. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foldline.engine.files import Files
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.cut_points import SummaryRange, requested_ranges, turn_split_at
from foldline.engine.planning.recent import due_items
from foldline.log.compaction import ranges
from foldline.log.compaction.summaries import details
from foldline.log.compaction.summary_request import SummaryRequest, requested_aims, targeted_gauge
from foldline.log.compaction.usage_estimate import context_tokens
from foldline.log.storage import segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction


@dataclass(frozen=True, slots=True)
class PlannedSummary:
    """A summary that a request would lead to, in one job or several: the ids of its first and last entry, and the
    number of messages that it would cover. Each is a compaction of its own.
    """

    first_entry_id: str
    last_entry_id: str
    messages: int


@dataclass(frozen=True, slots=True)
class PlannedCut:
    """The entries that summaries of the path would cover: all that are due or hidden, but for the last user message.

    `first`, `first_kept` and `turn_start` are entry ids. `first` is the oldest entry covered, `first_kept` the one at
    the cut: it stays as it is, and so do those after it. If the cut splits a turn, `turn_start` is the first entry of
    that turn. `messages` counts the covered messages before that turn, `turn_prefix` those at its beginning.
    `summaries` are two if the cut is inside the turn of the last user message, which stays between them. `replaces` has
    the ids of the summaries that they would absorb. `context_tokens` is the count of the whole view before, by the
    policy's counter.
    """

    first: str | None
    first_kept: str | None
    turn_start: str | None
    messages: int
    turn_prefix: int
    summaries: tuple[PlannedSummary, ...]
    replaces: tuple[str, ...]
    context_tokens: int
    files: Files

    @property
    def as_json(self) -> dict[str, Any]:
        """The cut as the API and the command show it."""
        return {
            "first_entry_id": self.first,
            "first_kept_entry_id": self.first_kept,
            "turn_start_entry_id": self.turn_start,
            "is_split_turn": self.turn_start is not None,
            "messages": self.messages,
            "turn_prefix_messages": self.turn_prefix,
            "summaries": [asdict(summary) for summary in self.summaries],
            "replaces": self.replaces,
            "context_tokens": self.context_tokens,
            **details(self.files),
        }


def cut_of(tx: Transaction, path: Path, outline: Outline, request: SummaryRequest) -> PlannedCut:
    """The cut that this summary request would make now."""
    aims = requested_aims(path, request)
    due = due_items(outline, aims.policy, targeted_gauge(aims, request, outline), is_asked=True)
    hidden = (index for index, item in enumerate(outline.items, 1) if isinstance(item, Unit) and item.is_hidden)
    due = max(due, *hidden, 0)
    found = requested_ranges(outline, aims.goals, due)
    kept = outline.items[due].first if due < len(outline.items) else None
    is_split = kept is not None and aims.policy.splits_turns and bool(found)
    start = turn_split_at(outline, kept) if kept is not None and is_split else None
    covered = [_seqs(outline, span) for span in found]
    prefix = sum(1 for seqs in covered for seq in seqs if start is not None and seq >= start)
    parts = segments.segments(tx, path)

    def named(seq: int | None) -> str | None:
        return None if seq is None else segments.id_at(parts, seq)

    return PlannedCut(
        first=named(found[0].first if found else None),
        first_kept=named(kept),
        turn_start=named(start),
        messages=sum(map(len, covered)) - prefix,
        turn_prefix=prefix,
        summaries=tuple(
            PlannedSummary(segments.id_at(parts, span.first), segments.id_at(parts, span.last), len(seqs))
            for span, seqs in zip(found, covered, strict=True)
        ),
        replaces=tuple(name for span in found for name in span.replaces),
        context_tokens=context_tokens(path, aims, outline),
        files=_files(tx, path, outline, found),
    )


def _files(tx: Transaction, path: Path, outline: Outline, found: Sequence[SummaryRange]) -> Files:
    files = Files()
    for span in found:
        files |= ranges.files_in(tx, path, outline, (span.first, span.last), span.replaces)
    return files


def _seqs(outline: Outline, span: SummaryRange) -> list[int]:
    """The seqs of the messages of a range that are under no live summary."""
    units = (item for item in outline.items if isinstance(item, Unit) and span.first <= item.first <= span.last)
    return [entry.seq for unit in units for entry in unit.entries]
