"""The engine in one call, without sessions: wire messages in, compacted wire messages or a breakdown of tokens out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final

from compaction.attachments import attachment_of, place_files
from compaction.breakdown import Breakdown
from compaction.budget import SMALLEST_SUMMARY, Goals, budget_of, check_fixed_parts, goals_of
from compaction.cuts import SummaryRange, next_range
from compaction.edits import Edit, LiveEdits
from compaction.errors import InvalidPolicy
from compaction.extractive import summarize as extract
from compaction.formats import FORMATS, Format, detect
from compaction.messages import JsonObject, Message
from compaction.outline import Outline, outline_of
from compaction.pairs import place_all
from compaction.pipeline import make_plan
from compaction.policy import Policy, policy_of
from compaction.presets import PRESETS
from compaction.summary import SummaryInput
from compaction.tokens import MESSAGE, count_messages, count_system, count_text, count_tools
from compaction.view import make_view
from compaction.windows import ContextWindow, parse_size, window_of
from compaction.wording import pins_tokens, summary_tokens

# An extractive summary is written in place, so it may read any range at once.
UNBOUNDED_TOKENS: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class Compacted:
    """Compacted messages in the format they came in, and what that took.

    Tokens are those of the whole view, system prompt, tools and messages: `tokens_after` is `budget.used`.
    """

    messages: list[dict[str, Any]]
    stages_used: tuple[str, ...]
    tokens_before: int
    budget: Breakdown

    @property
    def tokens_after(self) -> int:
        """Tokens of what is left."""
        return self.budget.used

    @property
    def tokens_saved(self) -> int:
        """Tokens that the view shrank by."""
        return self.tokens_before - self.tokens_after

    @property
    def fits(self) -> bool:
        """Whether the messages, the system prompt and the tools are within the budget."""
        return self.budget.fits


def compact(
    messages: Sequence[Any],
    *,
    model: str | None = None,
    context_window: int | str | None = None,
    max_output_tokens: int | None = None,
    system: str | None = None,
    tools: Sequence[JsonObject] = (),
    policy: Mapping[str, Any] | None = None,
    format_name: str | None = None,
    target_tokens: int | None = None,
    stages: list[str] | None = None,
    summarize: bool = False,
) -> Compacted:
    """Wire messages made to fit, in their own format; system messages at the front stay as they are.

    The call itself asks for the compaction: it goes down to the policy's target, or to `target_tokens` for system
    prompt, tools and messages together, also where the trigger is not reached. `summarize` puts an extractive summary
    in the place of what is old, or was hidden to make room; no LLM is called. Whether all fits is in the answer.

    Raises:
        InvalidMessage: a message has the wrong shape.
        InvalidPolicy: a policy, stage, format, window or target that cannot work.
        UnknownModel: no window is known for the model and none was given.
        FixedPartsDoNotFit: system prompt and tools leave no room for messages.
    """
    chosen = policy_of(policy or {}, PRESETS)
    chosen = chosen if stages is None else chosen.naming(stages)
    limit = _limit(model, context_window, max_output_tokens)
    wire_format = _format(messages, format_name)
    leading, rest = _split(wire_format.parse(messages))
    system_tokens, tools_tokens = count_system(system) + count_messages(leading), count_tools(tools)
    fixed_tokens = system_tokens + tools_tokens
    check_fixed_parts(chosen, limit, fixed_tokens, 1000)
    goals = _goals(chosen, limit, fixed_tokens, target_tokens)
    folded = _Folding(rest).folded(chosen, goals, has_target=target_tokens is not None, is_summarized=summarize)
    return Compacted(
        messages=wire_format.render([*leading, *folded.view], None).messages,
        stages_used=folded.stages_used,
        tokens_before=fixed_tokens + folded.tokens_before,
        budget=Breakdown(
            limit,
            MappingProxyType(
                {
                    "system": system_tokens,
                    "tools": tools_tokens,
                    "history": count_messages(folded.view),
                }
            ),
        ),
    )


def budget(
    messages: Sequence[Any],
    *,
    model: str | None = None,
    context_window: int | str | None = None,
    max_output_tokens: int | None = None,
    system: str | None = None,
    tools: Sequence[JsonObject] = (),
    format_name: str | None = None,
    prompt: str | None = None,
    files: Sequence[Any] = (),
    pins: Sequence[str] = (),
) -> Breakdown:
    """What a call with these messages would take of its budget, and what to send of each file.

    Raises:
        InvalidMessage: a message or file has the wrong shape.
        InvalidPolicy: a format or window that cannot work.
        UnknownModel: no window is known for the model and none was given.
    """
    leading, rest = _split(_format(messages, format_name).parse(messages))
    view = _Folding(rest).view(stub_open=True)
    return pending(
        _limit(model, context_window, max_output_tokens),
        {
            "system": count_system(system) + count_messages(leading),
            "history": count_messages(view),
            "tools": count_tools(tools),
            "pins": pins_tokens(list(pins)),
        },
        prompt=prompt,
        files=files,
    )


def pending(limit: int, taken: Mapping[str, int], *, prompt: str | None, files: Sequence[Any]) -> Breakdown:
    """The breakdown of a call that adds a prompt and files to what is taken already.

    Raises:
        InvalidMessage: a file has the wrong shape.
    """
    prompt_tokens = 0 if prompt is None else MESSAGE + count_text(prompt)
    attachments = [attachment_of(file, f"files[{index}]") for index, file in enumerate(files)]
    placements = place_files(attachments, limit - sum(taken.values()) - prompt_tokens)
    parts = {**taken, "prompt": prompt_tokens, "files": sum(placement.tokens for placement in placements)}
    return Breakdown(limit, MappingProxyType(parts), placements)


def _limit(model: str | None, context_window: int | str | None, max_output_tokens: int | None) -> int:
    if model is not None:
        return budget_of(window_of(model, context_window), max_output_tokens).limit
    if context_window is None:
        raise InvalidPolicy("context_window", "is needed where no `model` is given")
    return budget_of(ContextWindow(parse_size(context_window)), max_output_tokens).limit


def _format(messages: Sequence[Any], name: str | None) -> Format:
    name = detect(messages) if name is None else name
    if name not in FORMATS:
        raise InvalidPolicy("format", f"{name!r} is no format; available: {', '.join(FORMATS)}")
    return FORMATS[name]


def _split(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """The system messages at the front, and the others."""
    leading = list(takewhile(lambda message: message.role in {"system", "developer"}, messages))
    return leading, messages[len(leading) :]


def _goals(policy: Policy, limit: int, fixed_tokens: int, target_tokens: int | None) -> Goals:
    goals = goals_of(policy, limit, fixed_tokens, 1000)
    if target_tokens is None:
        return goals
    if target_tokens <= 0:
        raise InvalidPolicy("target_tokens", f"must be a positive number of tokens, not {target_tokens}")
    return goals.aiming_at(target_tokens - fixed_tokens)


@dataclass(frozen=True, slots=True)
class _Folded:
    view: list[Message]
    stages_used: tuple[str, ...]
    tokens_before: int


class _Folding:
    """Messages with the outline and the summaries made of them so far."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = dict(enumerate(messages, 1))
        facts, _ = place_all(self._messages.values())
        self._outline = outline_of(facts, LiveEdits())
        self._summaries: dict[str, str] = {}

    def view(self, *, stub_open: bool = False) -> list[Message]:
        return make_view(self._outline, self._messages, self._summaries, stub_open=stub_open)

    def folded(self, policy: Policy, goals: Goals, *, has_target: bool, is_summarized: bool) -> _Folded:
        """The messages after the policy's stages and, if wanted, summaries."""
        before = self._outline.tokens
        plan = make_plan(self._outline, policy.stages, goals, is_asked=True, has_target=has_target)
        self._outline = self._outline.edited(plan.edits)
        used = plan.stages_used
        if is_summarized and self._summarize(goals):
            used = tuple(dict.fromkeys((*used, "summarize")))
        return _Folded(self.view(), used, before)

    def _summarize(self, goals: Goals) -> bool:
        """Put a summary in the place of each range worth one; whether there was any."""
        is_any = False
        while (span := next_range(self._outline, goals, UNBOUNDED_TOKENS, is_asked=True)) is not None:
            after = self._outline.edited([self._condensed(self._outline, span)])
            ceiling = max(self._outline.tokens, goals.limit) if span.is_owed else self._outline.tokens - 1
            if after.tokens > ceiling:
                break
            self._outline, is_any = after, True
        return is_any

    def _condensed(self, outline: Outline, span: SummaryRange) -> Edit:
        # Of what is in view already, a summary takes less than its place; what was hidden takes none.
        room = span.max_tokens if span.is_owed else span.max_tokens + span.saving - 1
        max_tokens = max(SMALLEST_SUMMARY, min(span.max_tokens, room))
        inside = [seq for seq in self._messages if span.first <= seq <= span.last]
        under = [edit for edit in outline.live.condensed if edit.summary in span.replaces]
        originals = (seq for seq in inside if not any(edit.first <= seq <= edit.last for edit in under))
        text = extract(
            SummaryInput(
                tuple(self._summaries[name] for name in span.replaces),
                tuple(self._messages[seq] for seq in originals),
                max_tokens,
            )
        )
        name = str(len(self._summaries) + 1)
        self._summaries[name] = text
        return Edit(
            "condense",
            span.first,
            span.last,
            summary=name,
            tokens=summary_tokens(text),
            original_tokens=span.original_tokens,
            replaces=span.replaces,
        )
