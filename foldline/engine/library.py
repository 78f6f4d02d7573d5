"""The library: wire messages in, compacted wire messages or a breakdown of tokens out. No sessions, no service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from foldline.engine.errors import InvalidPolicy
from foldline.engine.formats import FORMATS, Format, detect
from foldline.engine.images.in_messages import Place, surplus_images, without_images
from foldline.engine.messages import JsonObject, Message
from foldline.engine.models.attachments import OWN_RULES, FileRules, attachment_of, files_budget, place_files
from foldline.engine.models.bounds import FixedInput, bounds_of
from foldline.engine.models.budget import NamedTarget
from foldline.engine.models.gauge import Frame
from foldline.engine.models.given_fields import check_given
from foldline.engine.planning.in_place import InPlace
from foldline.engine.policies.policy import policy_of
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.summaries.extractive import Extract
from foldline.engine.tokens.breakdown import Breakdown
from foldline.engine.tokens.counter import MESSAGE, count_message, count_messages, count_system, count_text, count_tools
from foldline.engine.wording import pins_tokens


@dataclass(frozen=True, slots=True)
class Compacted:
    """Compacted messages in their own format, with the tokens before and after.

    Tokens are those of the whole view: system prompt, tools and messages. `orphaned_calls_fixed` counts calls in view
    that got a stub as their result, `orphaned_results_fixed` results that are quoted because their call is missing.
    `rewritten_tokens` are those from the first message on that was edited: a provider's cache lacks them. `summaries`
    are those in the messages, in order, each with its `text` and `provenance`. `target` is the caller's.
    """

    messages: list[dict[str, Any]]
    stages_used: tuple[str, ...]
    tokens_before: int
    budget: Breakdown
    orphaned_calls_fixed: int
    orphaned_results_fixed: int
    images_left_out: int
    rewritten_tokens: int = 0
    summaries: tuple[Extract, ...] = ()
    target: NamedTarget | None = None

    @property
    def tokens_after(self) -> int:
        """Tokens of the compacted view; the same as `budget.used`."""
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
    max_images: int | None = None,
    max_image_bytes: int | None = None,
) -> Compacted:
    """The messages made to fit, in their own format. System messages at the front stay as they are.

    It compacts down to the policy's target, even if the trigger is not reached. `target_tokens` replaces that target;
    it is for system prompt, tools and messages together. With `summarize`, an extractive summary replaces messages that
    are old or had to be hidden; no LLM is called. `max_images` and `max_image_bytes` (base64) keep only the newest
    images, instead of those that the policy keeps. `fits` of the answer says whether the view is within the budget.

    Raises:
        InvalidMessage: a message has the wrong shape.
        InvalidPolicy: the policy, a stage, the format, the window or the target cannot work.
        UnknownModel: no window is known for the model and none was given.
        FixedPartsDoNotFit: system prompt and tools leave no room for messages.
    """
    chosen = policy_of(policy or {}, PRESETS)
    chosen = chosen if stages is None else chosen.naming(stages)
    frame = Frame(model, context_window, max_output_tokens)
    check_given(chosen, policy, frame)
    wire_format = format_of(messages, format_name)
    leading, rest = split(wire_format.parse(messages))
    bounds = bounds_of(frame, chosen, FixedInput(system, leading, tools), target_tokens)
    most = _or_of_policy(max_image_bytes, chosen.max_image_bytes), _or_of_policy(max_images, chosen.max_images)
    surplus = surplus_images(rest, *most)
    seen = without_images(rest, surplus)
    in_place = InPlace(seen, is_summarized=summarize)
    fixed = bounds.fixed_tokens
    named = None if target_tokens is None else NamedTarget(target_tokens, fixed + in_place.least_tokens)
    result = in_place.compact(chosen.on("asked"), bounds.goals, bounds.gauge, has_target=named is not None)
    orphans = in_place.orphans
    return Compacted(
        messages=wire_format.render([*leading, *in_place.view()], None, model).messages,
        stages_used=result.stages_used,
        tokens_before=fixed + result.tokens_before + _tokens_left_out(rest, seen, surplus),
        budget=bounds.breakdown(result.tokens_after),
        orphaned_calls_fixed=len(orphans.calls),
        orphaned_results_fixed=len(orphans.results),
        images_left_out=len(surplus),
        rewritten_tokens=result.rewritten_tokens,
        summaries=result.summaries,
        target=named,
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
    """The tokens that a call with these messages would take of its budget, and how much of each file to send.

    Raises:
        InvalidMessage: a message or file has the wrong shape.
        InvalidPolicy: the format or the window cannot work.
        UnknownModel: no window is known for the model and none was given.
    """
    leading, rest = split(format_of(messages, format_name).parse(messages))
    view = InPlace(rest).view(stub_open=True)
    return pending(
        Frame(model, context_window, max_output_tokens).budget(PRESETS[DEFAULT_PRESET]).limit,
        {
            "system": count_system(system) + count_messages(leading),
            "history": count_messages(view),
            "tools": count_tools(tools),
            "pins": pins_tokens(list(pins)),
        },
        prompt=prompt,
        files=files,
    )


def pending(
    limit: int,
    taken: Mapping[str, int],
    *,
    prompt: str | None,
    files: Sequence[Any],
    rules: FileRules = OWN_RULES,
) -> Breakdown:
    """The breakdown of a call that adds a prompt and files to `taken`, the tokens already taken by kind of content.

    All files together get the share of what the rest leaves that the `rules` give them.

    Raises:
        InvalidMessage: a file has the wrong shape.
    """
    prompt_tokens = 0 if prompt is None else MESSAGE + count_text(prompt)
    attachments = [attachment_of(file, f"files[{index}]", rules) for index, file in enumerate(files)]
    room = files_budget(limit, sum(taken.values()) + prompt_tokens, 0, rules.share)
    placements = place_files(attachments, room, rules)
    parts = {**taken, "prompt": prompt_tokens, "files": sum(placement.tokens for placement in placements)}
    return Breakdown(limit, MappingProxyType(parts), placements)


def format_of(messages: Sequence[Any], name: str | None) -> Format:
    """The format of this name; without one, the format that the messages are in.

    Raises:
        InvalidPolicy: there is no format of this name.
    """
    name = detect(messages) if name is None else name
    if name not in FORMATS:
        raise InvalidPolicy("format", f"{name!r} is no format; available: {', '.join(FORMATS)}")
    return FORMATS[name]


def split(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """The system messages at the front, and all other messages."""
    leading = list(takewhile(lambda message: message.role in {"system", "developer"}, messages))
    return leading, messages[len(leading) :]


def _tokens_left_out(messages: list[Message], seen: list[Message], places: Sequence[Place]) -> int:
    """The tokens that leaving images out at these places saves; `seen` are the messages without them."""
    changed = {index for index, _ in places}
    return sum(count_message(messages[index]) - count_message(seen[index]) for index in changed)


def _or_of_policy(most: int | None, of_policy: int) -> int | None:
    """What the caller gave, else what the policy has; None is no limit, which a policy gives as 0."""
    return most if most is not None else of_policy or None
