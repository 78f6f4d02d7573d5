"""Interim summaries on a path: made for the hidden runs of an outline, in the transaction that hides them."""

from __future__ import annotations

from operator import itemgetter

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.outline import Outline
from foldline.engine.planning import interim
from foldline.engine.planning.interim import InterimDue
from foldline.log.compaction import dismissals, summaries
from foldline.log.compaction.dismissals import Ledger
from foldline.log.storage import entry_log, segments
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.store import Transaction


def with_interims(
    tx: Transaction, path: Path, outline: Outline, aims: Aims, *, before: LiveEdits, most: int | None = None
) -> tuple[Outline, tuple[Edit, ...]]:
    """The outline with an interim summary of each hidden run that has none, and their edits.

    `before` are the live edits whose interim summaries the new ones carry on. The view takes at most `most` tokens, if
    that is given, and else keeps some room below the trigger.
    """
    edits = []
    for wanted in interim.due(outline, aims.goals, aims.gauge, most=most):
        items, dismissed = _items(tx, path, wanted, before)
        made = interim.interim_of(items, wanted, aims.policy.headings, dismissed)
        name = summaries.keep_interim(tx, path, made) if made.text else ""
        edits.append(interim.edit_of(wanted, made, name))
    return (outline.edited(edits), tuple(edits)) if edits else (outline, ())


def _items(tx: Transaction, path: Path, wanted: InterimDue, before: LiveEdits) -> Ledger:
    """The items of a run: those that earlier interim summaries of parts of it carry on, and its other entries' own."""
    earlier = [
        edit for edit in before.interims if edit.summary and wanted.first <= edit.first and edit.last <= wanted.last
    ]
    spans, first = [], wanted.first
    for edit in earlier:
        spans.append((first, edit.first - 1))
        first = edit.last + 1
    spans.append((first, wanted.last))
    inside = segments.clipped(segments.segments(tx, path), [span for span in spans if span[0] <= span[1]])
    carried = summaries.items_of(tx, {edit.summary: edit.last for edit in earlier})
    found = [*carried, *entry_log.items_in(tx, path.session, inside)]
    return dismissals.ledger_of(sorted(found, key=itemgetter(0)), dismissals.dismissed_keys(tx, path.session))
