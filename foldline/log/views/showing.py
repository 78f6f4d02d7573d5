"""The messages of a view: originals seen through the live edits, summaries, pins, and the reasoning that is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from foldline.engine.facts import is_empty
from foldline.engine.messages import Message, Other, Thinking, is_bound
from foldline.engine.models.compactors import compactor_of
from foldline.engine.models.limits import limits_of
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.image_limits import images_too_large
from foldline.engine.summaries.provider_block import ProviderBlock
from foldline.engine.view import make_view
from foldline.log.compaction.summaries import shown_summaries
from foldline.log.storage import entry_log, segments
from foldline.log.storage.fixed_parts import FixedParts, pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.views import reasoning
from foldline.log.views.blocks import BlockShown, first_block
from foldline.log.views.reasoning import ReasoningShown

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Target:
    """What a view is for: a model, and the format of its messages; None if that is not known yet."""

    model: str
    format_name: str | None = None

    def takes(self, block: ProviderBlock) -> bool:
        """Whether its requests may have this block of a provider."""
        return (block.stands_for.model, block.format) == (self.model, self.format_name)


@dataclass(frozen=True, slots=True)
class ShownMessages:
    """The messages of a view, and its reasoning.

    `lost` is the number of images that are larger than the provider takes, and of parts with unsigned reasoning in
    messages that have nothing else. A request with the messages needs `request_headers`. `block` is how a provider's
    summary of the view is shown, if it is one of the target's.
    """

    messages: list[Message]
    reasoning: ReasoningShown
    lost: int = 0
    request_headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)
    block: BlockShown = BlockShown.NONE


def show(
    tx: Transaction, path: Path, outline: Outline, target: Target, *, stub_open: bool = False, until: int | None = None
) -> ShownMessages:
    """The messages of the view of this outline; with `until`, those up to the item that ends at this seq."""
    originals, pins = _originals(tx, path, outline), pins_of(tx, path.session)
    found = None if pins else first_block(tx, path.session, outline)
    # A provider takes one block alone: a client's own in a later message is in the way of ours.
    is_shown = found is not None and target.takes(found) and not any(map(_has_block, originals.values()))
    block = found if is_shown else None
    # No view for another model ever has it as a block.
    is_text = found is not None and found.stands_for.model == target.model
    form = BlockShown.AS_BLOCK if is_shown else BlockShown.AS_TEXT if is_text else BlockShown.NONE
    fixed = FixedParts(path.session, target.model, pins)
    shown = reasoning.shown(tx, path, outline, originals, fixed, block=form)
    limits = limits_of(target.model).for_images()
    if until is not None:
        outline = replace(outline, items=[item for item in outline.items if item.last <= until])
    messages = make_view(
        outline,
        originals,
        _texts(tx, outline),
        pins,
        without_reasoning=shown.left_out,
        image_limits=limits,
        stub_open=stub_open,
        blocks={} if block is None else {outline.live.condensed[0].summary: block.shown},
    )
    lost = images_too_large(outline, limits) + sum(map(_lost, originals.values()))
    compactor = compactor_of(target.model)
    headers = compactor.request_headers if compactor and block else NO_HEADERS
    return ShownMessages(messages, shown, lost, headers, form)


def show_plain(outline: Outline, originals: Mapping[int, Message], model: str) -> ShownMessages | None:
    """The messages of an outline without edits, of these originals by seq, for a model that takes all their reasoning.

    None if one of them has a provider's block: then what is shown depends on the whole view.
    """
    if any(map(_has_block, originals.values())):
        return None
    limits = limits_of(model).for_images()
    messages = make_view(outline, originals, {}, image_limits=limits)
    lost = images_too_large(outline, limits) + sum(map(_lost, originals.values()))
    return ShownMessages(messages, ReasoningShown(sum(message.bound_parts for message in originals.values())), lost)


def show_everything(tx: Transaction, path: Path, outline: Outline) -> ShownMessages:
    """The messages of a view that nobody sends: with all reasoning, and with messages that count nothing."""
    originals, pins = _originals(tx, path, outline), pins_of(tx, path.session)
    messages = make_view(outline, originals, _texts(tx, outline), pins, stub_open=True, keep_empty=True)
    return ShownMessages(messages, ReasoningShown(sum(message.bound_parts for message in originals.values())))


def _texts(tx: Transaction, outline: Outline) -> dict[str, str]:
    """The texts of the summaries in view, by their ids."""
    return {name: summary.text for name, summary in shown_summaries(tx, outline.summaries).items()}


def _has_block(message: Message) -> bool:
    return any(isinstance(part, Other) and part.kind == "compaction" for part in message.parts)


def _lost(message: Message) -> int:
    """The parts of unsigned reasoning that a message loses because it has nothing else."""
    thoughts = sum(isinstance(part, Thinking) and not is_bound(part) for part in message.parts)
    return thoughts if thoughts and is_empty(message) else 0


def _originals(tx: Transaction, path: Path, outline: Outline) -> dict[int, Message]:
    """The original messages of the entries in view, by seq."""
    spans: list[tuple[int, int]] = []
    is_next = False
    for item in outline.items:
        is_shown = isinstance(item, Unit) and not item.is_hidden
        if is_shown:
            spans[-1:] = [(spans[-1][0], item.last)] if is_next else [*spans[-1:], (item.first, item.last)]
        is_next = is_shown
    return entry_log.known_messages_in(tx, path.session, segments.clipped(segments.segments(tx, path), spans))
