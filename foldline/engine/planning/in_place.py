"""Compacts a list of messages in memory, without a session: one plan, then extractive summaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.ledger.find import items_of
from foldline.engine.messages import Message
from foldline.engine.models.budget import SMALLEST_SUMMARY, Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit, outline_of
from foldline.engine.planning import interim
from foldline.engine.planning.batches import Orphans, orphans_of, place_all
from foldline.engine.planning.cut_points import InputLimits, SummaryRange, next_range
from foldline.engine.planning.pipeline import plan_for
from foldline.engine.planning.prefix_price import rewritten
from foldline.engine.planning.recent import due_items, items_until, last_due
from foldline.engine.policies.policy import Policy
from foldline.engine.summaries.extractive import Extract, extracted
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.view import make_view
from foldline.engine.wording import summary_tokens

# An extractive summary has no model's window to fit, so it may read any range at once.
UNBOUNDED_TOKENS: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class InPlaceResult:
    """The compacted view, the stages that changed it, and the calls and results in it without a counterpart.

    `rewritten_tokens` are those of the view from the first edited message on. `summaries` are those in the view.
    """

    view: list[Message]
    stages_used: tuple[str, ...]
    tokens_before: int
    rewritten_tokens: int
    orphans: Orphans
    summaries: tuple[Extract, ...] = ()


class InPlace:
    """Messages with their outline and the summaries written so far."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = dict(enumerate(messages, 1))
        facts, _ = place_all(self._messages.values())
        self._outline = outline_of(facts, LiveEdits())
        self._summaries: dict[str, Extract] = {}

    @property
    def least_tokens(self) -> int:
        """Tokens that no compaction brings the messages below."""
        return self._outline.least_tokens

    def view(self, *, stub_open: bool = False) -> list[Message]:
        """The messages that a model would see now."""
        texts = {name: summary.text for name, summary in self._summaries.items()}
        return make_view(self._outline, self._messages, texts, stub_open=stub_open)

    def compact(
        self, policy: Policy, goals: Goals, gauge: Gauge, *, has_target: bool, is_summarized: bool
    ) -> InPlaceResult:
        """The result of the policy's stages and, if `is_summarized`, of extractive summaries."""
        before = self._outline.tokens
        gauge = gauge.aimed(goals, self._outline) if has_target else gauge
        plan = plan_for(self._outline, policy.stages, goals, gauge, is_asked=True, has_target=has_target)
        self._outline = plan.outline
        used = plan.stages_used
        if is_summarized and self._summarize(policy, goals, gauge):
            used = tuple(dict.fromkeys((*used, "summarize")))
        hidden = interim.due(self._outline, goals, gauge)
        self._outline = self._outline.edited(interim.edit_of(run, interim.marker_of(run)) for run in hidden)
        first = self._outline.live.first_difference(LiveEdits())
        shown = tuple(self._summaries[edit.summary] for edit in self._outline.live.condensed)
        return InPlaceResult(self.view(), used, before, rewritten(self._outline, first), self._orphans(), shown)

    def _orphans(self) -> Orphans:
        """The calls that the view stubs and the results that it quotes; calls of an open batch do not count."""
        shown = [item for item in self._outline.items if isinstance(item, Unit) and not item.is_hidden]
        found = orphans_of(entry for unit in shown for entry in unit.entries)
        waiting = self._outline.open_unit
        calls = (call for call in found.calls if waiting is None or call.seq != waiting.first)
        return found._replace(calls=tuple(calls))

    def _summarize(self, policy: Policy, goals: Goals, gauge: Gauge) -> bool:
        """Replace each range that is worth a summary by one; whether there was any."""
        is_any = False
        # Fixed before the first summary: after each one, more items would be due.
        until = last_due(self._outline, due_items(self._outline, policy, gauge, is_asked=True))
        while True:
            due = items_until(self._outline, until)
            span = next_range(self._outline, goals, InputLimits(UNBOUNDED_TOKENS, UNBOUNDED_TOKENS), due, is_asked=True)
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
