"""Compacts a list of messages in memory, without a session: one plan, then extractive summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import Facts, facts_on_demand
from foldline.engine.ledger.find import items_of
from foldline.engine.messages import Message
from foldline.engine.models.budget import SMALLEST_SUMMARY, Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit, outline_of
from foldline.engine.planning import interim
from foldline.engine.planning.batches import Orphans, Placed, Tail, orphans_of, place
from foldline.engine.planning.cut_points import InputLimits, SummaryRange, next_range
from foldline.engine.planning.pipeline import plan_for
from foldline.engine.planning.prefix_price import rewritten
from foldline.engine.planning.recent import due_items, items_until, last_due
from foldline.engine.policies.policy import Policy
from foldline.engine.summaries.extractive import Extract, extracted
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.view import ShownItem, make_view, shown_items, unit_view
from foldline.engine.wording import summary_tokens

# An extractive summary has no model's window to fit, so it may read any range at once.
UNBOUNDED_TOKENS: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class InPlaceResult:
    """The stages that changed the view, its tokens before and after, and the summaries in it.

    `first_edited` is the number of the first message that shows differently, counted from 1; None if there is none.
    `rewritten_tokens` are those of the view from there on.
    """

    stages_used: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    first_edited: int | None
    rewritten_tokens: int
    summaries: tuple[Extract, ...] = ()


class InPlace:
    """Messages with their outline and the summaries written so far.

    If it `is_summarized`, a compaction may write extractive summaries. If not, it reads no hidden message again, so
    that a compaction costs in proportion to the view.
    """

    def __init__(self, messages: Iterable[Message], *, is_summarized: bool = False) -> None:
        self._messages: dict[int, Message] = {}
        self._is_summarized = is_summarized
        self._outline = outline_of((), LiveEdits())
        self._summaries: dict[str, Extract] = {}
        self._facts: list[Facts] = []
        # So many of the facts are in the outline already.
        self._outlined = 0
        self._tail = Tail()
        for message in messages:
            self.add(message)

    def add(self, message: Message) -> Placed:
        """Add a message behind all others: its place."""
        seq = len(self._messages) + 1
        placed = place(facts_on_demand(message), seq, self._tail)
        self._messages[seq], self._tail = message, placed.tail
        self._facts.append(placed.facts)
        return placed

    @property
    def outline(self) -> Outline:
        """The outline of all messages."""
        if added := self._facts[self._outlined :]:
            self._outline = self._outline.with_entries(added, is_whole=self._is_summarized)
            self._outlined = len(self._facts)
        return self._outline

    @property
    def is_empty(self) -> bool:
        """Whether no message was added."""
        return not self._messages

    @property
    def least_tokens(self) -> int:
        """Tokens that no compaction brings the messages below."""
        return self.outline.least_tokens

    def unit_view(self, entries: Sequence[Facts], *, has_stubs: bool) -> Iterator[Message]:
        """The messages in view of one unit that no edit changes."""
        return unit_view(entries, self._messages, has_stubs=has_stubs)

    def view(self, *, stub_open: bool = False) -> list[Message]:
        """The messages that a model would see now."""
        return make_view(self.outline, self._messages, self._texts, stub_open=stub_open)

    def shown_items(self, since: int) -> Iterator[ShownItem]:
        """The same, item by item, from the message with the number `since` on."""
        return shown_items(self.outline, self._messages, self._texts, since=since)

    @property
    def _texts(self) -> dict[str, str]:
        return {name: summary.text for name, summary in self._summaries.items()}

    def compact(
        self, policy: Policy, goals: Goals, gauge: Gauge, *, is_asked: bool = True, has_target: bool = False
    ) -> InPlaceResult:
        """The result of the policy's stages and of the extractive summaries; see `make_plan` for the rest."""
        before = self.outline
        gauge = gauge.aimed(goals, before) if has_target else gauge
        plan = plan_for(before, policy.stages, goals, gauge, is_asked=is_asked, has_target=has_target)
        self._outline = plan.outline
        used = plan.stages_used
        if self._is_summarized and self._summarize(policy, goals, gauge, is_asked=is_asked):
            used = tuple(dict.fromkeys((*used, "summarize")))
        if hidden := interim.due(self._outline, goals, gauge):
            self._outline = self._outline.edited(interim.edit_of(run, interim.marker_of(run)) for run in hidden)
        first = self._outline.live.first_difference(before.live)
        shown = tuple(self._summaries[edit.summary] for edit in self._outline.live.condensed)
        return InPlaceResult(used, before.tokens, self._outline.tokens, first, rewritten(self._outline, first), shown)

    def compact_or_start_anew(self, policy: Policy, asked: Policy, goals: Goals, gauge: Gauge) -> InPlaceResult:
        """The result of an automatic compaction; where only one that starts anew makes the view fit, of that one.

        What is hidden or summarized never comes back by itself, and a summary never shrinks. The compaction that starts
        anew drops all edits and follows the policy `asked`, as if the messages had never been compacted.
        """
        before = self.outline
        result = self.compact(policy, goals, gauge, is_asked=False)
        if result.tokens_after <= goals.limit:
            return result
        planned, self._outline = self._outline, outline_of(self._facts, LiveEdits())
        anew = self.compact(asked, goals, gauge)
        if anew.tokens_after > goals.limit:
            self._outline = planned
            return result
        first = self._outline.live.first_difference(before.live)
        return replace(
            anew,
            tokens_before=before.tokens,
            first_edited=first,
            rewritten_tokens=rewritten(self._outline, first),
        )

    @property
    def orphans(self) -> Orphans:
        """The calls that the view stubs and the results that it quotes; calls of an open batch do not count."""
        shown = [item for item in self.outline.items if isinstance(item, Unit) and not item.is_hidden]
        found = orphans_of(entry for unit in shown for entry in unit.entries)
        waiting = self.outline.open_unit
        calls = (call for call in found.calls if waiting is None or call.seq != waiting.first)
        return found._replace(calls=tuple(calls))

    def _summarize(self, policy: Policy, goals: Goals, gauge: Gauge, *, is_asked: bool) -> bool:
        """Replace each range that is worth a summary by one; whether there was any."""
        is_any, unbounded = False, InputLimits(UNBOUNDED_TOKENS, UNBOUNDED_TOKENS)
        # Fixed before the first summary: after each one, more items would be due.
        until = last_due(self._outline, due_items(self._outline, policy, gauge, is_asked=is_asked))
        while True:
            due = items_until(self._outline, until)
            span = next_range(self._outline, goals, unbounded, due, is_asked=is_asked)
            if span is None:
                break
            after = self._outline.edited([self._condensed(self._outline, span, policy.headings)])
            ceiling = max(self._outline.tokens, goals.limit) if span.is_pending else self._outline.tokens - 1
            if after.tokens > ceiling:
                break
            self._outline, is_any = after, True
        return is_any

    def _condensed(self, outline: Outline, span: SummaryRange, headings: str) -> Edit:
        # A summary must be smaller than the messages in view that it replaces. Hidden messages take no room in view.
        room = span.max_tokens if span.is_pending else span.max_tokens + span.saving - 1
        max_tokens = max(SMALLEST_SUMMARY, min(span.max_tokens, room))
        inside = [seq for seq in self._messages if span.first <= seq <= span.last]
        under = [edit for edit in outline.live.condensed if edit.summary in span.replaces]
        originals = (seq for seq in inside if not any(edit.first <= seq <= edit.last for edit in under))
        items = ((seq, item) for seq in inside for item in items_of(self._messages[seq]))
        summary = extracted(
            SummaryInput(
                tuple(self._summaries[name].text for name in span.replaces),
                tuple(self._messages[seq] for seq in originals),
                max_tokens,
                headings=headings,
                ledger=tuple(items),
                turn_ledger=(),
            )
        )
        name = str(len(self._summaries) + 1)
        self._summaries[name] = summary
        return Edit(
            "condense",
            span.first,
            span.last,
            summary=name,
            tokens=summary_tokens(summary.text),
            original_tokens=span.original_tokens,
            replaces=span.replaces,
        )
