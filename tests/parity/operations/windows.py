"""Windows, reserves, budgets, levels of use, and chunks."""

from __future__ import annotations

import re
from math import ceil, floor
from types import MappingProxyType
from typing import Final

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.registries import AGENT_CODE, AGENT_CODE_OUTPUT, CODEBUDDY, NEUROLINK, ByPrefix
from foldline.engine.models.windows import parse_size
from foldline.engine.planning.chunks import adaptive_limit, chunk_limit, chunked
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.tokens.breakdown import estimated
from foldline.engine.tokens.estimates import ESTIMATES
from tests.parity.operations.counting import messages_of, no_recorded_defect
from tests.parity.vectors import Json, Operation, Operations, agrees

NEURO: Final = LAYOUTS["neurolink"]
AGENT: Final = LAYOUTS["agent-code@program"]
BUDDY: Final = LAYOUTS["codebuddy@program"]
DEFAULT_THRESHOLD: Final = 0.8
# Names of models fall apart at these: not at a dot, for the "1m" of "3.1m" is no size.
SEPARATORS: Final = re.compile(r"[^\w.]+")
MILLION: Final = frozenset({"1m", "1000k"})


def _neurolink_window(args: Json) -> Json:
    window = NEUROLINK.window(args["model"], args["provider"])
    asked = args["max_tokens"]
    return {"window": window, "reserve": NEURO.reserve(window, asked), "available": NEURO.available(window, asked)}


def _neurolink_budget(args: Json) -> Json:
    found = estimated(
        ESTIMATES["neurolink"],
        _neurolink_window(args)["available"],
        provider=args["provider"],
        system=args["system"],
        messages=messages_of(args["messages"]),
        prompt=args["prompt"],
        tools=args["tools"] or (),
        files=args["files"] or (),
    )
    threshold = DEFAULT_THRESHOLD if args["threshold"] is None else args["threshold"]
    return {
        "estimated": found.used,
        "available": found.limit,
        "within": found.fits,
        "usage_ratio": found.usage_ratio,
        "compact": found.usage_ratio >= threshold,
        "breakdown": dict(found.breakdown),
    }


def _window_of_row(registry: ByPrefix, model: str | None, provider: str | None) -> int:
    """The window of the longest row that is the model's name up to its end or to what is no letter or digit."""
    name, rows = model or "", registry.windows.get(provider or "", {})
    ends = (end for end in range(len(name), 0, -1) if not name[end : end + 1].isalnum())
    default = registry.defaults.get(provider or "", registry.fallback)
    return next((rows[name[:end]] for end in ends if name[:end] in rows), default)


def _available_by_row(args: Json) -> Json:
    window, asked = _window_of_row(NEUROLINK, args["model"], args["provider"]), args["max_tokens"] or 0
    reserve = asked if asked > 0 else min(64_000, ceil(window * 0.35))
    return {"window": window, "reserve": reserve, "available": max(0, window - reserve)}


def _is_of_longest_row(args: Json, found: Json) -> bool:
    return agrees(_available_by_row(args), found)


def _is_budget_of_longest_row(args: Json, found: Json) -> bool:
    available, estimate = _available_by_row(args)["available"], sum(found["breakdown"].values())
    ratio = estimate / available if available else 1.0
    budget = {
        "estimated": estimate,
        "available": available,
        "within": estimate <= available,
        "usage_ratio": ratio,
        "compact": ratio >= (DEFAULT_THRESHOLD if args["threshold"] is None else args["threshold"]),
    }
    return agrees(budget, found)


def _agent_window(args: Json) -> Json:
    window, output = AGENT_CODE.window(args["model"]), AGENT_CODE_OUTPUT.window(args["model"])
    return {"window": window, "reserve": AGENT.reserve(window, output), "available": AGENT.available(window, output)}


def _agent_thresholds(args: Json) -> Json:
    room = _agent_window(args)["available"]
    (threshold,) = (level.begins(room) for level in AGENT.levels if level.name == "compact")
    return {"effective": room, "threshold": threshold}


def _agent_warning(args: Json) -> Json:
    room, tokens = _agent_window(args)["available"], args["tokens"]
    reached = AGENT.reached(tokens, room)
    left = max(0, room - tokens) / room * 100
    return {"percent_left": floor(left + 0.5), **{level.name: level.name in reached for level in AGENT.levels}}


def _rooms(model: str) -> tuple[int, int]:
    """The least and the most room a model can have: half the smallest window to all of the largest.

    The window is a million where the name has that as a word, and only there; else it is 16,384 to 200,000.
    """
    is_usual = MILLION.isdisjoint(SEPARATORS.split(model.lower()))
    return (8_192, 200_000) if is_usual else (500_000, 1_000_000)


def _leaves_its_room(args: Json, found: Json) -> bool:
    least, most = _rooms(args["model"])
    is_divided = found["window"] == found["reserve"] + found["available"]
    return bool(is_divided and least <= found["available"] <= most)


def _is_reachable(args: Json, found: Json) -> bool:
    """A threshold of 0 would compact for ever, one past the window never."""
    least, most = _rooms(args["model"])
    return bool(0 < found["threshold"] < found["effective"] and least <= found["effective"] <= most)


def _is_reported_in_time(args: Json, found: Json) -> bool:
    """No level is reached in half of the least room, all are where the most is full."""
    (least, most), tokens = _rooms(args["model"]), args["tokens"]
    fewest, greatest = (max(0, room - tokens) / room * 100 for room in (least, most))
    levels = {found["warning"], found["compact"], found["blocking"]}
    is_early, is_late = tokens < least / 2 and True in levels, tokens >= most and False in levels
    return not (is_early or is_late) and bool(fewest - 0.5 <= found["percent_left"] <= greatest + 0.5)


def _setting(args: Json) -> Json:
    try:
        return {"window": parse_size(args["setting"])}
    except InvalidPolicy:
        return {"window": CODEBUDDY.fallback}


def _codebuddy_window(args: Json) -> Json:
    return _setting(args) if args["setting"] else {"window": CODEBUDDY.window(args["model"])}


def _codebuddy_usage(args: Json) -> Json:
    estimate = ESTIMATES[args["counter"]]
    tokens = estimate.of_conversation(messages_of(args["messages"]))
    window, system = args["max_context_tokens"], args["system_prompt_tokens"]
    reached = BUDDY.reached(tokens + system, window)
    return {
        "tokens": tokens,
        "usage_ratio": (tokens + system) / window,
        "budget": max(0, window - system),
        "warning": reached[-1] if reached else "none",
    }


def _chunk_limit(args: Json) -> Json:
    counts, window = args["token_counts"], args["window"]
    return {"adaptive": adaptive_limit(counts, window), "limit": chunk_limit(counts, window)}


def _chunk(args: Json) -> Json:
    return {"chunks": chunked(args["token_counts"], args["limit"])}


def _size_by_rule(setting: str) -> int:
    """A whole number of tokens, of thousands or of millions of them, and nothing else in the text."""
    text = setting.strip().lower()
    number = text.removesuffix("k") if text.endswith("k") else text.removesuffix("m")
    unit = {"": 1, "k": 1_000, "m": 1_000_000}[text[len(number) :]]
    return (int(number) * unit if number.strip().isdecimal() else 0) or CODEBUDDY.fallback


def _is_whole_setting(args: Json, found: Json) -> bool:
    return bool(found["window"] == _size_by_rule(args["setting"]))


def _is_window_of_release(args: Json, found: Json) -> bool:
    if args["setting"]:
        return _is_whole_setting(args, found)
    return bool(found["window"] == _window_of_row(CODEBUDDY, args["model"], None))


def _is_usage_of_budget(args: Json, found: Json) -> bool:
    window, system = args["max_context_tokens"], args["system_prompt_tokens"]
    ratio = (found["tokens"] + system) / window
    level = "critical" if ratio >= 0.9 else "warning" if ratio >= 0.8 else "none"
    return agrees({"usage_ratio": ratio, "budget": max(0, window - system), "warning": level}, found)


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "window"): Operation(_neurolink_window, _is_of_longest_row),
        ("neurolink", "budget"): Operation(_neurolink_budget, _is_budget_of_longest_row),
        ("agent_code", "window"): Operation(_agent_window, _leaves_its_room),
        ("agent_code", "thresholds"): Operation(_agent_thresholds, _is_reachable),
        ("agent_code", "warning"): Operation(_agent_warning, _is_reported_in_time),
        ("codebuddy", "window_setting"): Operation(_setting, _is_whole_setting),
        ("codebuddy", "window"): Operation(_codebuddy_window, _is_window_of_release),
        ("codebuddy", "usage"): Operation(_codebuddy_usage, _is_usage_of_budget),
        ("codebuddy", "chunk_limit"): Operation(_chunk_limit, no_recorded_defect),
        ("codebuddy", "chunk"): Operation(_chunk, no_recorded_defect),
    }
)
