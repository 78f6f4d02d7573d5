"""Makes the view of a session. Reading never writes: writers have made the view fit."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Final

from sqlalchemy import select

from foldline.engine.errors import ImagesDoNotFit, ViewDoesNotFit
from foldline.engine.images.in_messages import NO_IMAGES
from foldline.engine.messages import Message
from foldline.engine.models.budget import Budget
from foldline.engine.models.limits import NO_LIMITS, limits_of
from foldline.engine.outline import Outline
from foldline.engine.planning.image_limits import images_shown
from foldline.engine.tokens.counter import scaled
from foldline.engine.wording import stub_tokens
from foldline.log.errors import CallsOpen, NotFound
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path, SessionVersion
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import SESSION
from foldline.log.views.blocks import BlockShown
from foldline.log.views.following import ViewEnd, following, seen_now
from foldline.log.views.showing import ShownMessages, Target, show, show_everything

LARGEST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class View:
    """A view in canonical messages, with its path and the budget it was checked against.

    `used` is the view's scaled tokens, with the stubs of open calls and the reasoning that was left out. A later view
    can continue from its `end`, if it has one. If it `continues` another, its messages are those that follow that one.
    """

    shown: ShownMessages
    path: Path
    used: int
    open_calls: list[str]
    budget: Budget
    end: ViewEnd | None = None
    continues: bool = False

    @property
    def messages(self) -> list[Message]:
        """Its messages."""
        return self.shown.messages


_VERSION: Final = select(SESSION.c.pk, SESSION.c.created_at, SESSION.c.version).where(paths.BY_ID)


def version_of(tx: Transaction, tenant: str, session_id: str) -> SessionVersion:
    """The version of a session, and so of the view at its head.

    Raises:
        NotFound: no such session.
    """
    row = tx.execute(_VERSION, {"tenant": tenant, "id": session_id}).first()
    if row is None:
        raise NotFound("session", session_id)
    return SessionVersion(*row)


def budget_for(path: Path, model: str | None = None, max_output_tokens: int | None = None) -> Budget:
    """The budget of the session's own model, or of another.

    Raises:
        UnknownModel, InvalidPolicy: the model or output limit gives no budget.
    """
    return path.session.frame_for(model, max_output_tokens).budget(path.session.policy)


def view(
    tx: Transaction,
    tenant: str,
    session_id: str,
    *,
    model: str | None = None,
    format_name: str | None = None,
    must_fit: bool = True,
    stub_open: bool = False,
) -> View:
    """The view at the head.

    `model` checks the view against another model's budget. `format_name` is the format that the messages will be
    written in: some summaries are shown in another way in the format of their provider. `must_fit=False` does not check
    it, stubs open calls, and keeps messages and reasoning that a fitted view leaves out. `stub_open` adds stubs for
    open calls.

    Raises:
        NotFound: no such session.
        CallsOpen: calls wait for results, and neither `stub_open` nor `must_fit=False` is given.
        ViewDoesNotFit: the view takes more than the budget.
        ImagesDoNotFit: it has more images, or larger ones, than the provider takes.
        UnknownModel: no window is known for `model`.
    """
    path = paths.open_head(tx, tenant, session_id)
    return _whole(tx, path, model, format_name, must_fit=must_fit, stub_open=stub_open)


def _whole(
    tx: Transaction,
    path: Path,
    model: str | None,
    format_name: str | None,
    *,
    must_fit: bool = True,
    stub_open: bool = False,
) -> View:
    budget = budget_for(path, model)
    waiting = path.open_calls
    if waiting and must_fit and not stub_open:
        raise CallsOpen(waiting)
    stubs = stub_tokens() * len(waiting)
    outline = entry_log.outline_in_view(tx, path)
    used = path.session.used(path.kept + stubs)
    if must_fit and used > budget.limit:
        raise ViewDoesNotFit(used, budget.limit, _largest(tx, path, outline))
    limits = limits_of(model or path.session.model).for_images(budget.window)
    path.images = images_shown(outline, limits if must_fit else NO_LIMITS)
    if must_fit and not limits.takes(path.images):
        raise ImagesDoNotFit(astuple(path.images), limits.most_beside(path.images.count))
    target = Target(model or path.session.model, format_name)
    shown = show(tx, path, outline, target, stub_open=stub_open) if must_fit else show_everything(tx, path, outline)
    return View(shown, path, used, waiting, budget)


def next_view(tx: Transaction, path: Path, format_name: str, after: ViewEnd | None = None) -> View:
    """The view at a loaded head for the session's own model.

    `after` is the end of an earlier one in this format. If the view begins with that one, only what follows is made.

    Raises:
        CallsOpen, ViewDoesNotFit, ImagesDoNotFit: as `view`.
    """
    budget, seen = budget_for(path), seen_now(tx, path)
    limits = limits_of(path.session.model).for_images(budget.window)
    is_ready = not path.open_calls and path.used <= budget.limit
    found = following(tx, path, after, seen, limits) if is_ready and after else None
    if found is None or not limits.takes(found.images):
        made = _whole(tx, path, None, format_name)
    else:
        path.images = found.images
        made = View(found.shown, path, path.used, [], budget, continues=True)
    shown, images = made.shown, made.path.images or NO_IMAGES
    # Whether a provider's block is shown, and the reasoning that is bound to it, depends on the whole view.
    if shown.block is not BlockShown.NONE:
        return made
    end = ViewEnd(path.branch, seen, path.leaf_seq, limits, images, shown.reasoning, shown.lost)
    return replace(made, end=end)


def _largest(tx: Transaction, path: Path, outline: Outline) -> list[tuple[str, int]]:
    """The ids and scaled tokens of the largest entries in view, largest first."""
    entries = [entry for entry in outline.entries_in_view() if not outline.live.changes(entry.seq)]
    entries.sort(key=lambda entry: -entry.tokens)
    parts = segments.segments(tx, path)
    multiplier = path.session.multiplier
    return [(segments.id_at(parts, entry.seq), scaled(entry.tokens, multiplier)) for entry in entries[:LARGEST_SHOWN]]
