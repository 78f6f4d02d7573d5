"""Checks a view against what was sent, sharing no code with the engine or renderer but the tokenizer.

Each check returns the faults as sentences; an empty list means that the view keeps the promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from foldline.engine.formats import rules
from foldline.replay.transcripts import system_text
from foldline.replay.view_count import view_tokens

JsonDict = dict[str, Any]
Wire = Sequence[Mapping[str, Any]]


class Ids(NamedTuple):
    """The ids that a message calls and answers, and whether more results for the earlier calls may follow."""

    calls: list[str]
    results: list[str]
    may_continue: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """What a view must contain. `user` has the texts of the last user message, which is last if `ends_with_user`."""

    system: str | None = None
    tools: Sequence[JsonDict] = ()
    user: tuple[str, ...] = ()
    ends_with_user: bool = False


def check_view(format_name: str, view: JsonDict, expected: Expected) -> list[str]:
    """The faults of a view that must fit its budget."""
    return [*check_budget(format_name, view, expected), *check_content(format_name, view, expected)]


def check_content(format_name: str, view: JsonDict, expected: Expected) -> list[str]:
    """The faults of a view's content, of any size."""
    messages: list[JsonDict] = view["messages"]
    return [
        *rules.check(format_name, messages, view.get("system")),
        *(PAIR_CHECKS[format_name](messages) if format_name in PAIR_CHECKS else ()),
        *check_system(format_name, view, expected),
        *check_user(messages, expected),
    ]


def check_budget(format_name: str, view: JsonDict, expected: Expected) -> list[str]:
    """The faults of a view's size, by its own figures and by a count of its messages."""
    budget = view["budget"]
    limit, used = budget["limit"], budget["used"]
    counted = view_tokens(format_name, view, expected.tools)
    wrong = []
    if not budget["fits"]:
        wrong.append(f"the service returned a view that does not fit: {used} of {limit} tokens")
    if used > limit:
        wrong.append(f"by its own figure the view takes {used} of {limit} tokens")
    if counted > used:
        wrong.append(f"the view's messages count {counted} tokens, the service says {used} of {limit}")
    return wrong


def check_system(format_name: str, view: JsonDict, expected: Expected) -> list[str]:
    """The faults of the system prompt."""
    if expected.system is None:
        return []
    wrong = []
    if system_text(view.get("system")) != expected.system:
        wrong.append("`system` is not the session's system prompt")
    if format_name == "openai" and not _leads_with(view["messages"], expected.system):
        wrong.append("the first message is not the session's system prompt")
    return wrong


def _leads_with(messages: Wire, system: str) -> bool:
    return bool(messages) and messages[0].get("role") == "system" and messages[0].get("content") == system


def check_user(messages: Wire, expected: Expected) -> list[str]:
    """The faults of the last user message, which must be in the view verbatim, and last if nothing followed it."""
    if not expected.user:
        return []
    candidates = messages[-1:] if expected.ends_with_user else messages
    if any(_holds(message, expected.user) for message in candidates if message.get("role") == "user"):
        return []
    place = "at the end of the view" if expected.ends_with_user else "in the view"
    return [f"the last user message is not {place} word for word: {expected.user[0][:60]!r}"]


def _holds(message: Mapping[str, Any], texts: tuple[str, ...]) -> bool:
    found = texts_of(message)
    starts = range(len(found) - len(texts) + 1)
    return any(tuple(found[start : start + len(texts)]) == texts for start in starts)


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The texts of a wire message that are not blank, in order."""
    content = message.get("content", message.get("parts"))
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content or [] if _is_text(part)]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _is_text(part: Any) -> bool:
    # Gemini's parts have no type.
    return isinstance(part, Mapping) and part.get("type", "text") in {"text", "input_text"}


def check_openai_pairs(messages: Wire) -> list[str]:
    """Calls without their result right after them, and results without their call, in OpenAI messages."""
    return _check_pairs(map(_openai_ids, messages))


def _openai_ids(message: Mapping[str, Any]) -> Ids:
    calls = [call["id"] for call in message.get("tool_calls") or []]
    is_result = message.get("role") == "tool"
    return Ids(calls, [message["tool_call_id"]] if is_result else [], may_continue=is_result)


def check_anthropic_pairs(messages: Wire) -> list[str]:
    """Calls without their result in the next message, and results without their call, in Anthropic messages."""
    return _check_pairs(map(_anthropic_ids, messages))


def _anthropic_ids(message: Mapping[str, Any]) -> Ids:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    calls = [part["id"] for part in parts if part.get("type") == "tool_use"]
    return Ids(calls, [part["tool_use_id"] for part in parts if part.get("type") == "tool_result"])


def _check_pairs(messages: Iterable[Ids]) -> list[str]:
    wrong: list[str] = []
    waiting: list[str] = []
    for ids in messages:
        for call_id in ids.results:
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                wrong.append(f"the result of {call_id} does not follow its call")
        if not ids.may_continue:
            wrong.extend(map(_unanswered, waiting))
            waiting = []
        waiting.extend(ids.calls)
    return [*wrong, *map(_unanswered, waiting)]


def _unanswered(call_id: str) -> str:
    return f"the call {call_id} has no result right after it"


# The rules of the other formats check their pairs.
PAIR_CHECKS: Final[Mapping[str, Callable[[Wire], list[str]]]] = {
    "openai": check_openai_pairs,
    "anthropic": check_anthropic_pairs,
}
