"""The cut that a summary request would make now, for a dry run. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foldline.engine.facts import Facts
from foldline.engine.files import Files
from foldline.engine.outline import Item, Outline, Summarized, Unit
from foldline.engine.planning.cut_points import turn_split_at
from foldline.engine.planning.recent import due_items
from foldline.log.compaction import ranges
from foldline.log.compaction.summaries import details
from foldline.log.compaction.summary_request import SummaryRequest, requested_aims, targeted_gauge
from foldline.log.compaction.usage_estimate import context_tokens
from foldline.log.storage import segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction


@dataclass(frozen=True, slots=True)
class PlannedCut:
    """The entries that a summary of the path would cover: all that are due or hidden. It may take several jobs.

    `first`, `first_kept` and `turn_start` are entry ids. `first` is the oldest entry covered, `first_kept` the oldest
    that stays as it is. If the cut splits a turn, `turn_start` is the first entry of that turn. `messages` counts the
    covered messages before that turn, `turn_prefix` those at its beginning. `replaces` has the ids of the summaries
    that the new one would absorb. `context_tokens` is the count of the whole view before, by the policy's counter.
    """

    first: str | None
    first_kept: str | None
    turn_start: str | None
    messages: int
    turn_prefix: int
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
    older = outline.items[:due]
    kept = outline.items[due].first if due < len(outline.items) else None
    start = turn_split_at(outline, kept) if kept is not None and aims.policy.splits_turns and older else None
    prefix = sum(1 for entry in _entries(older) if start is not None and entry.seq >= start)
    parts = segments.segments(tx, path)

    def named(seq: int | None) -> str | None:
        return None if seq is None else segments.id_at(parts, seq)

    return PlannedCut(
        first=named(older[0].first if older else None),
        first_kept=named(kept),
        turn_start=named(start),
        messages=sum(1 for _ in _entries(older)) - prefix,
        turn_prefix=prefix,
        replaces=tuple(item.edit.summary for item in older if isinstance(item, Summarized)),
        context_tokens=context_tokens(path, aims, outline),
        files=_files(tx, path, outline, older),
    )


def _files(tx: Transaction, path: Path, outline: Outline, older: Sequence[Item]) -> Files:
    if not older:
        return Files()
    replaced = [item.edit.summary for item in older if isinstance(item, Summarized)]
    return ranges.files_in(tx, path, outline, (older[0].first, older[-1].last), replaced)


def _entries(items: Sequence[Item]) -> Iterator[Facts]:
    return (entry for item in items if isinstance(item, Unit) for entry in item.entries)
