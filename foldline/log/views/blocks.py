"""The block of a provider's own compaction at the beginning of a view."""

from __future__ import annotations

from enum import Enum, auto

from foldline.engine.edits import LiveEdits
from foldline.engine.outline import Outline, Summarized
from foldline.engine.summaries.provider_block import ProviderBlock
from foldline.log.compaction.summaries import shown_summaries
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Session
from foldline.log.storage.store import Transaction


class BlockShown(Enum):
    """How a view shows the block that it may begin with; `NONE` if there is none."""

    NONE = auto()
    AS_BLOCK = auto()
    AS_TEXT = auto()


def first_block(tx: Transaction, session: Session, outline: Outline) -> ProviderBlock | None:
    """The block that a view of this outline may begin with; None if it has none that its provider would take.

    A provider takes a block before all messages alone. One that was in a refused view counts as refused.
    """
    first = outline.items[0] if outline.items else None
    if not isinstance(first, Summarized):
        return None
    summary = first.edit.summary
    block = shown_summaries(tx, [summary])[summary].block
    is_valid = block is not None and _before(tx, session, block).reasoning_from == outline.live.reasoning_from
    return block if is_valid else None


def what_it_stands_for(tx: Transaction, session: Session, live: LiveEdits) -> tuple[ProviderBlock, LiveEdits] | None:
    """The block of the first live summary, and the live edits with what was there before; None if it has no block."""
    if not live.condensed:
        return None
    oldest = live.condensed[0]
    block = shown_summaries(tx, [oldest.summary])[oldest.summary].block
    return None if block is None else (block, live.with_originals(oldest, _before(tx, session, block)))


def _before(tx: Transaction, session: Session, block: ProviderBlock) -> LiveEdits:
    return entry_log.live_edits_at(tx, session, block.stands_for.view.edits_at)
