"""Makes the view of a session. Reading never writes: writers have made the view fit."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Final

from foldline.engine.errors import ImagesDoNotFit, ViewDoesNotFit
from foldline.engine.facts import Facts, is_empty
from foldline.engine.messages import Message, Thinking, is_bound
from foldline.engine.models.budget import Budget
from foldline.engine.models.limits import NO_LIMITS, limits_of
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.image_limits import images_shown, images_too_large
from foldline.engine.tokens.counter import scaled
from foldline.engine.view import make_view
from foldline.engine.wording import stub_tokens
from foldline.log.compaction.summaries import shown_texts
from foldline.log.errors import CallsOpen
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.pins import pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import reasoning
from foldline.log.use_cases.reasoning import FixedParts, ReasoningShown

LARGEST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class View:
    """A view in canonical messages, with its path and the budget it was checked against.

    `used` is the view's scaled tokens, with the stubs of open calls and the reasoning that was left out. `lost` is the
    number of images that are larger than the provider takes, and of parts with unsigned reasoning in messages that have
    nothing else.
    """

    messages: list[Message]
    path: Path
    used: int
    open_calls: list[str]
    budget: Budget
    reasoning: ReasoningShown
    lost: int = 0


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
    must_fit: bool = True,
    stub_open: bool = False,
) -> View:
    """The view at the head.

    `model` checks the view against another model's budget. `must_fit=False` does not check it, stubs open calls, and
    keeps messages and reasoning that a fitted view leaves out. `stub_open` adds stubs for open calls.

    Raises:
        NotFound: no such session.
        CallsOpen: calls wait for results, and neither `stub_open` nor `must_fit=False` is given.
        ViewDoesNotFit: the view takes more than the budget.
        ImagesDoNotFit: it has more images, or larger ones, than the provider takes.
        UnknownModel: no window is known for `model`.
    """
    path = paths.open_head(tx, tenant, session_id)
    budget = budget_for(path, model)
    waiting = path.open_calls
    if waiting and must_fit and not stub_open:
        raise CallsOpen(waiting)
    stubs = stub_tokens() * len(waiting)
    outline = entry_log.outline(tx, path)
    used = path.session.used(path.kept + stubs)
    if must_fit and used > budget.limit:
        raise ViewDoesNotFit(used, budget.limit, _largest(tx, path, outline))
    limits = limits_of(model or path.session.model).for_images(budget.window)
    path.images = images_shown(outline, limits if must_fit else NO_LIMITS)
    if must_fit and not limits.takes(path.images):
        raise ImagesDoNotFit(astuple(path.images), limits.most_beside(path.images.count))
    originals, pins = _messages(tx, path, outline), pins_of(tx, path.session.pk)
    fixed = FixedParts(path.session, model or path.session.model, pins)
    everything = ReasoningShown(sum(message.bound_parts for message in originals.values()))
    shown = reasoning.shown(tx, path, outline, originals, fixed) if must_fit else everything
    messages = make_view(
        outline,
        originals,
        shown_texts(tx, [edit.summary for edit in outline.live.condensed]),
        pins,
        without_reasoning=shown.left_out,
        image_limits=limits if must_fit else NO_LIMITS,
        stub_open=stub_open or not must_fit,
        keep_empty=not must_fit,
    )
    lost = images_too_large(outline, limits) + sum(map(_lost, originals.values())) if must_fit else 0
    return View(messages, path, used, waiting, budget, shown, lost)


def _lost(message: Message) -> int:
    """The parts of unsigned reasoning that a message loses because it has nothing else."""
    return sum(isinstance(part, Thinking) and not is_bound(part) for part in message.parts if is_empty(message))


def _messages(tx: Transaction, path: Path, outline: Outline) -> dict[int, Message]:
    """The original messages of the entries in view, by seq."""
    spans: list[tuple[int, int]] = []
    is_next = False
    for item in outline.items:
        is_shown = isinstance(item, Unit) and not item.is_hidden
        if is_shown:
            spans[-1:] = [(spans[-1][0], item.last)] if is_next else [*spans[-1:], (item.first, item.last)]
        is_next = is_shown
    return entry_log.messages_in(tx, path.session, segments.clipped(segments.segments(tx, path), spans))


def _largest(tx: Transaction, path: Path, outline: Outline) -> list[tuple[str, int]]:
    """The ids and scaled tokens of the largest entries in view, largest first."""
    entries: list[Facts] = [
        entry
        for item in outline.items
        if isinstance(item, Unit) and not item.is_hidden
        for entry in item.entries
        if not outline.live.changes(entry.seq)
    ]
    entries.sort(key=lambda entry: -entry.tokens)
    parts = segments.segments(tx, path)
    multiplier = path.session.multiplier
    return [(segments.id_at(parts, entry.seq), scaled(entry.tokens, multiplier)) for entry in entries[:LARGEST_SHOWN]]
