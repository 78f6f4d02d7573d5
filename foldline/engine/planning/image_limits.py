"""Keeps the images of a view within what a provider takes: the oldest are left out first, in few large steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from foldline.engine import wording
from foldline.engine.edits import OMIT_IMAGES, Edit
from foldline.engine.facts import Facts
from foldline.engine.images.in_messages import NO_IMAGES, Images
from foldline.engine.models.limits import NO_LIMITS, ImageLimits
from foldline.engine.outline import Outline

# Once images are left out, so many stay that the next time is not soon: each time changes the start of the view.
KEPT_SHARE: Final = 0.5


def images_shown(outline: Outline, limits: ImageLimits, shown: Images = NO_IMAGES) -> Images:
    """The images in a view for a provider with these limits, and those that are `shown` before it."""
    for entry in _entries(outline):
        shown = shown.adding(entry.images[index] for index in _shown(outline, entry, limits))
    return shown


def images_too_large(outline: Outline, limits: ImageLimits) -> int:
    """The number of images that are in no view for the provider, and were not left out before."""
    return sum(
        index >= _omitted(outline, entry) for entry in _entries(outline) for index in limits.too_large(entry.images)
    )


def image_texts(outline: Outline, limits: ImageLimits = NO_LIMITS) -> Iterator[tuple[int, Mapping[int, str]]]:
    """The seq of each entry that has images which are not in view, with a text for each of these by its index."""
    for entry in _entries(outline):
        edit = outline.live.images.get(entry.seq)
        texts = dict.fromkeys(limits.too_large(entry.images), wording.LARGE_IMAGE)
        texts |= dict.fromkeys(range(edit.level if edit else 0), wording.OLDER_IMAGE)
        if texts:
            yield entry.seq, texts


def omitting_images(outline: Outline, limits: ImageLimits, share: float = 1) -> tuple[Edit, ...]:
    """Edits that leave the oldest images out until the others take at most a share of the limits.

    Those of the last user message stay, and so does the newest image while the limits allow it. Images that are too
    large alone do not count.
    """
    most = limits.share(share)
    last_user = outline.items[outline.last_user].first if outline.last_user >= 0 else 0
    entries = list(_entries(outline))
    images = [(entry, index) for entry in entries for index in _shown(outline, entry, limits)]
    shown = NO_IMAGES.adding(entry.images[index] for entry, index in images if entry.seq == last_user)
    may_go = [(entry, index) for entry, index in images if entry.seq != last_user]
    levels: dict[int, int] = {}
    for entry, index in reversed(may_go):
        more = shown.adding([entry.images[index]])
        if not levels and (most.takes(more) or (limits.takes(more) and (entry, index) == images[-1])):
            shown = more
        else:
            levels.setdefault(entry.seq, index + 1)
    return tuple(Edit(OMIT_IMAGES, seq, seq, level) for seq, level in sorted(levels.items()))


def _entries(outline: Outline) -> Iterator[Facts]:
    """The entries in view that have images, oldest first."""
    return (entry for entry in outline.entries_in_view() if entry.images)


def _shown(outline: Outline, entry: Facts, limits: ImageLimits) -> list[int]:
    """The indexes of the entry's images that are in view."""
    gone = limits.too_large(entry.images)
    return [index for index in range(_omitted(outline, entry), len(entry.images)) if index not in gone]


def _omitted(outline: Outline, entry: Facts) -> int:
    """How many of the entry's images, from the first, edits left out of the view."""
    if entry.answers is not None and entry.seq in outline.live.cells:
        return len(entry.images)
    edit = outline.live.images.get(entry.seq)
    return edit.level if edit else 0
