"""Keeps the images of a view within what a provider takes: the oldest are left out first, in few large steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.images import Images
from foldline.engine.outline import Outline, Unit

# Once images are left out, so many stay that the next time is not soon: each time changes the start of the view.
KEPT_SHARE: Final = 0.5


def images_shown(outline: Outline) -> Images:
    """The images in view."""
    shown = Images()
    for entry in _entries(outline):
        shown = shown.adding(entry.images[_omitted(outline, entry) :])
    return shown


def omitting_images(outline: Outline, most: Images) -> tuple[Edit, ...]:
    """Edits that leave the oldest images out until at most `most` are in view.

    Those of the last user message stay, and so does the newest image, if it is not too large alone.
    """
    shown, edits = images_shown(outline), []
    entries = list(_entries(outline))
    last_user = outline.items[outline.last_user].first if outline.last_user >= 0 else 0
    for entry in entries:
        already = level = _omitted(outline, entry)
        is_newest = entry is entries[-1] and entry.images[-1] <= most.bytes
        kept = len(entry.images) if entry.seq == last_user else int(is_newest)
        while level < len(entry.images) - kept and shown.exceeds(most):
            shown = Images(shown.count - 1, shown.bytes - entry.images[level])
            level += 1
        if level > already:
            edits.append(Edit("omit_images", entry.seq, entry.seq, level))
    return tuple(edits)


def _entries(outline: Outline) -> Iterator[Facts]:
    """The entries in view that have images, oldest first."""
    for item in outline.items:
        if isinstance(item, Unit) and not item.is_hidden:
            yield from (entry for entry in item.entries if entry.images)


def _omitted(outline: Outline, entry: Facts) -> int:
    """How many of the entry's images, from the first, are not in view."""
    cell = outline.live.cells.get(entry.seq)
    if cell is None or (cell.kind == "excerpt" and entry.answers is None):
        return 0
    return cell.level if cell.kind == "omit_images" else len(entry.images)
