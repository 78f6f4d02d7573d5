"""What a view has after an earlier one that it begins with: reading that costs what is new."""

from __future__ import annotations

from typing import NamedTuple

from foldline.engine.facts import Seen
from foldline.engine.images.in_messages import Images
from foldline.engine.models.limits import ImageLimits
from foldline.engine.planning.image_limits import images_shown
from foldline.log.storage import entry_log
from foldline.log.storage.fixed_parts import FixedParts, pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.views.reasoning import ReasoningShown
from foldline.log.views.showing import ShownMessages, show_plain


class ViewEnd(NamedTuple):
    """The end of a view without open calls. Later views of its branch begin with it as long as `seen` stays.

    `seq` is that of the newest entry then. `images` are those in view under `image_limits`; `reasoning` and `lost` are
    as in `ShownMessages`.
    """

    branch: int
    seen: Seen
    seq: int
    image_limits: ImageLimits
    images: Images
    reasoning: ReasoningShown
    lost: int


class Following(NamedTuple):
    """What follows the end of a view: its messages, and the images of the view with them."""

    images: Images
    shown: ShownMessages


def seen_now(tx: Transaction, path: Path) -> Seen:
    """What decides how a view shows its entries: as long as it stays, views only grow."""
    session = path.session
    return Seen(FixedParts(session, session.model, pins_of(tx, session)).digest, path.edits_at)


def following(tx: Transaction, path: Path, end: ViewEnd, seen: Seen, limits: ImageLimits) -> Following | None:
    """What the view at the leaf has after this end; None if it does not begin with that, or has to be judged whole."""
    if (end.branch, end.seen, end.image_limits) != (path.branch, seen, limits):
        return None
    outline, originals = entry_log.added_after(tx, path, end.seq)
    if any(entry.bound and not (entry.tokens and entry.seen == seen) for entry in outline.entries_in_view()):
        return None
    new = show_plain(outline, originals, path.session.model)
    if new is None:
        return None
    before = end.reasoning
    reasoning = ReasoningShown(before.parts + new.reasoning.parts, before.left_out, before.parts_left_out)
    shown = ShownMessages(new.messages, reasoning, end.lost + new.lost)
    return Following(images_shown(outline, limits, end.images), shown)
