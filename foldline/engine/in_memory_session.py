"""A session in memory: messages are added, each is counted once, and the view of them fits whenever it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, Final, NamedTuple

from foldline.engine.facts import Facts
from foldline.engine.formats import FORMATS, Format, shown_format
from foldline.engine.formats.contract import Wire, Writer
from foldline.engine.library import format_of, split
from foldline.engine.messages import JsonObject, Message
from foldline.engine.models.bounds import CallBounds, FixedInput, bounds_of
from foldline.engine.models.gauge import Frame
from foldline.engine.models.given_fields import check_given
from foldline.engine.planning.batches import Placed
from foldline.engine.planning.in_place import InPlace
from foldline.engine.policies.policy import Policy, policy_of
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.breakdown import Breakdown
from foldline.engine.view import ShownItem

# So many items after a mark, there is another.
ITEMS_A_MARK: Final = 32


class InMemorySession:
    """The messages of one conversation in one format, and a view of them that stays within the model's budget.

    After each `add`, the policy's stages run if the view is over its trigger. What they take out of the view is
    replaced by a marker or, with `summarize`, by an extractive summary; no LLM is called. Nothing is stored.

    Between two compactions, views only grow at their end, with two exceptions. A late result in an open batch stands
    behind the results of that batch that come after it. Where the first messages show no format, a later one that does
    has them written again.

    The session, its views and whoever added a message share that message: no message that was given to `add` or that is
    in a view may be changed.

    The arguments are those that `compact` has too, with the same errors. `compact` alone has `target_tokens`, `stages`,
    `max_images` and `max_image_bytes`. All images stay as long as their messages: `max_images` and `max_image_bytes` of
    the policy have no effect.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        context_window: int | str | None = None,
        max_output_tokens: int | None = None,
        system: str | None = None,
        tools: Sequence[JsonObject] = (),
        policy: Mapping[str, Any] | None = None,
        format_name: str | None = None,
        summarize: bool = False,
    ) -> None:
        chosen = policy_of(policy or {}, PRESETS)
        self._frame = Frame(model, context_window, max_output_tokens)
        check_given(chosen, policy, self._frame)
        self._policy = chosen if summarize else _without_summaries(chosen)
        self._asked = chosen.on("asked")
        self._is_summarized = summarize
        self._parts = FixedInput(system, (), tools)
        self._bounds = self._bounds_of(self._parts)
        # The wire messages that show no format; None once the format is known.
        self._plain: list[Any] | None = [] if format_name is None else None
        self.compactions = 0
        self._begin(format_of([], format_name))

    def _begin(self, wire_format: Format) -> None:
        """Begin without messages."""
        self._format = wire_format
        self._in_place = InPlace((), is_summarized=self._is_summarized)
        self._view = _View(wire_format, self._frame.model)
        self._open: list[Facts] = []
        # Tokens of the messages in view, by the exact count and by the policy's.
        self._tokens = self._seen_tokens = 0
        # The exact tokens above which the next plan is made.
        self._plans_over = 0

    def add(self, messages: Sequence[Any]) -> None:
        """Add wire messages to the end; they must not be changed afterwards.

        System messages before all others stay as they are.

        Without a `format_name`, the first messages that show a format decide; until then, it is OpenAI's. Those before
        them are then read again in that format.

        Raises:
            InvalidMessage: a message has the wrong shape; then none is added. The path of one that was added before
                its format was known begins with `added`.
            FixedPartsDoNotFit: the system messages leave no room for messages; then none is added.
        """
        shown = None if self._plain is None else shown_format(messages)
        wire_format = FORMATS[shown] if shown else self._format
        read = wire_format.parse(messages)
        is_other = wire_format is not self._format
        if is_other:
            read = [*wire_format.parse(self._plain or [], "added"), *read]
        leading, rest = split(read) if is_other or self._in_place.is_empty else ([], read)
        if leading:
            parts = self._parts._replace(leading=(*(() if is_other else self._parts.leading), *leading))
            self._bounds, self._parts = self._bounds_of(parts), parts
        # Nothing is refused from here on.
        if is_other:
            self._begin(wire_format)
        if shown:
            self._plain = None
        elif self._plain is not None:
            self._plain += messages
        self._append(leading, rest)

    def _append(self, leading: Sequence[Message], rest: Iterable[Message]) -> None:
        if leading:
            self._view.extend(ShownItem(0, leading))
        for message in rest:
            self._add(self._in_place.add(message))
        if self._is_due():
            self._compact()

    def view(self) -> list[dict[str, Any]]:
        """The messages to send to the model now; calls that wait for their results have none.

        The list is new, but its messages are shared with other views, and must not be changed.
        """
        return self._view.rendered(self._unit(has_stubs=False))

    @property
    def budget(self) -> Breakdown:
        """The tokens that the view takes of the model's budget, and whether it fits."""
        return self._bounds.breakdown(self._tokens)

    def _bounds_of(self, parts: FixedInput) -> CallBounds:
        return bounds_of(self._frame, self._policy, parts)

    def _add(self, placed: Placed) -> None:
        if self._open and placed.facts.unit != self._open[0].seq:
            self._close()
        self._open.append(placed.facts)
        if not placed.tail.open_calls:
            self._close()
        self._tokens += placed.added_tokens
        self._seen_tokens += self._bounds.gauge.measure.added(placed.facts, placed.stubs)

    def _close(self) -> None:
        """Show the open unit as it will stay."""
        self._view.extend(ShownItem(self._open[-1].seq, self._unit(has_stubs=True)))
        self._open = []

    def _unit(self, *, has_stubs: bool) -> list[Message]:
        return [*self._in_place.unit_view(self._open, has_stubs=has_stubs)] if self._open else []

    def _is_due(self) -> bool:
        goals, own = self._bounds.goals, self._bounds.gauge.goals
        is_over = self._tokens > goals.limit or self._seen_tokens > min(own.trigger, own.limit)
        return is_over and self._tokens > min(self._plans_over, goals.limit)

    def _compact(self) -> None:
        bounds = self._bounds
        result = self._in_place.compact_or_start_anew(self._policy, self._asked, bounds.goals, bounds.gauge)
        if result.first_edited is None:
            # A plan that saves less than this would be empty.
            self._plans_over = self._tokens + bounds.goals.minimum_saving
            return
        self.compactions += 1
        outline, self._plans_over = self._in_place.outline, 0
        self._tokens, self._seen_tokens = outline.tokens, bounds.gauge.seen(outline).tokens
        waiting = outline.open_unit
        self._view.cut(result.first_edited)
        for item in self._in_place.shown_items(result.first_edited):
            if waiting is None or item.last < waiting.first:
                self._view.extend(item)


def _without_summaries(policy: Policy) -> Policy:
    return policy.naming([stage.name for stage in policy.stages if stage.name != "summarize"])


class _Mark(NamedTuple):
    """A place to write on from: the number of items and of wire messages before it, and the writer there."""

    items: int
    written: int
    writer: Writer


def thinned(places: Sequence[int]) -> set[int]:
    """The places to keep of these, which ascend and end with the end of all items: the ends, and few between them.

    A writer takes room in proportion to what it has written. So the distances between places that are kept double on
    the way from the end to the beginning: after a cut, at most so many items are written again as were cut off, or as
    there are between two neighbours of the given places.
    """
    end = nearest = places[-1]
    kept = {places[0], end}
    for place, before in pairwise(reversed(places[:-1])):
        if nearest - before > end - nearest:
            kept.add(place)
            nearest = place
    return kept


class _View:
    """The items in view that stay as they are, and the writer that has written them."""

    def __init__(self, wire_format: Format, model: str | None) -> None:
        self._items: list[ShownItem] = []
        self._written: list[Wire] = []
        self._writer = wire_format.writer(None, model)
        self._marks = [_Mark(0, 0, self._writer.copy())]

    def extend(self, item: ShownItem) -> None:
        """Add an item at the end."""
        if len(self._items) - self._marks[-1].items >= ITEMS_A_MARK:
            self._marks.append(_Mark(len(self._items), len(self._written), self._writer.copy()))
            kept = thinned([mark.items for mark in self._marks])
            self._marks = [mark for mark in self._marks if mark.items in kept]
        self._items.append(item)
        for message in item.messages:
            self._writer.add(message)
        self._written += self._writer.take()

    def cut(self, first: int) -> None:
        """Remove all items from the one with the entry `first` on. Those after the mark before it are written again."""
        at = bisect_left(self._items, first, key=attrgetter("last"))
        while self._marks[-1].items > at:
            self._marks.pop()
        mark = self._marks[-1]
        again = self._items[mark.items : at]
        del self._items[mark.items :], self._written[mark.written :]
        self._writer = mark.writer.copy()
        for item in again:
            self.extend(item)

    def rendered(self, after: Iterable[Message]) -> list[Wire]:
        """The wire messages, with these messages after them."""
        writer = self._writer.copy()
        for message in after:
            writer.add(message)
        writer.finish()
        return [*self._written, *writer.messages]
