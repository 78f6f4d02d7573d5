"""Windows, reserves, budgets, levels of use, and chunks."""

from __future__ import annotations

from math import floor
from types import MappingProxyType
from typing import Final

from compaction.breakdown import estimated
from compaction.chunks import adaptive_limit, chunk_limit, chunked
from compaction.errors import InvalidPolicy
from compaction.estimates import ESTIMATES
from compaction.layouts import LAYOUTS
from compaction.registries import AGENT_CODE, AGENT_CODE_OUTPUT, CODEBUDDY, NEUROLINK
from compaction.windows import parse_size
from tests.parity.operations.counting import messages_of
from tests.parity.vectors import Json, Operation, Operations

NEURO: Final = LAYOUTS["neurolink"]
AGENT: Final = LAYOUTS["agent-code"]
BUDDY: Final = LAYOUTS["codebuddy"]
DEFAULT_THRESHOLD: Final = 0.8


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


def _is_sane_window(_args: Json, found: Json) -> bool:
    return bool(found["available"] >= 0 and found["window"] >= 1_000)


def _is_honest_budget(_args: Json, found: Json) -> bool:
    return bool(found["available"] >= 0 and found["within"] == (found["estimated"] <= found["available"]))


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


def _is_reachable(_args: Json, found: Json) -> bool:
    """A threshold of 0 would compact for ever."""
    return bool(0 < found["threshold"] < found["effective"])


def _is_level_sane(args: Json, found: Json) -> bool:
    """Nothing is over with nothing in view."""
    return bool(args["tokens"] or not (found["warning"] or found["compact"] or found["blocking"]))


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


def _is_positive(_args: Json, found: Json) -> bool:
    return bool(found["window"] > 0)


def _is_budget_positive(_args: Json, found: Json) -> bool:
    return bool(found["budget"] >= 0)


def _never(_args: Json, _found: Json) -> bool:
    """There are no recorded defects of this operation."""
    return False


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "window"): Operation(_neurolink_window, _is_sane_window),
        ("neurolink", "budget"): Operation(_neurolink_budget, _is_honest_budget),
        ("agent_code", "window"): Operation(_agent_window, _is_sane_window),
        ("agent_code", "thresholds"): Operation(_agent_thresholds, _is_reachable),
        ("agent_code", "warning"): Operation(_agent_warning, _is_level_sane),
        ("codebuddy", "window_setting"): Operation(_setting, _is_positive),
        ("codebuddy", "window"): Operation(_codebuddy_window, _is_positive),
        ("codebuddy", "usage"): Operation(_codebuddy_usage, _is_budget_positive),
        ("codebuddy", "chunk_limit"): Operation(_chunk_limit, _never),
        ("codebuddy", "chunk"): Operation(_chunk, _never),
    }
)
