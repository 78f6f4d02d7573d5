"""What refusals say."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.overflow import gap_of, is_silent_overflow, text_of, verdict_of
from tests.parity.vectors import Json, Operation, Operations

# Words that none uses who refuses a request for its length, and wordings that one provider alone has.
PASSING: Final = re.compile(r"per min|rate.?limit|throttl|quota|\b[kmg]b\b", re.IGNORECASE)
AUTHORS: Final = {
    "too large for model with": "mistral",
    "this endpoint's maximum": "openrouter",
    "anthropic: ": "anthropic",
}
FIGURE: Final = re.compile(r"(?<![a-z\d,])\d[\d,]*", re.IGNORECASE)


def _attributed(args: Json) -> Json:
    verdict = verdict_of(args["error"])
    return {"overflow": verdict.is_overflow, "provider": verdict.provider}


def _is_reported_from_throttling(args: Json, found: Json) -> bool:
    return bool(found["overflow"] is not bool(PASSING.search(text_of(args["error"]))))


def _is_attributed(args: Json, found: Json) -> bool:
    text = text_of(args["error"]).lower()
    authors = [author for wording, author in AUTHORS.items() if wording in text]
    return _is_reported_from_throttling(args, found) and authors in ([], [found["provider"]])


def _recognized(args: Json) -> Json:
    """Of one that attributes nothing, and also looks at answers without an error."""
    if "error" in args:
        return {"overflow": verdict_of(args["error"]).is_overflow, "provider": None}
    usage = args["usage"]
    prompt_tokens = usage["input"] + usage["cache_read"]
    is_overflow = is_silent_overflow(args["stop"], prompt_tokens, usage["output"], args["context_window"])
    return {"overflow": is_overflow, "provider": None}


def _gap(args: Json) -> Any:
    gap = gap_of(args["text"])
    return None if gap is None else {"actual": gap[0], "limit": gap[1]}


def _is_of_whole_numbers(args: Json, found: Json | None) -> bool:
    actual, limit = (int(figure.replace(",", "")) for figure in FIGURE.findall(args["text"])[:2])
    return found == ({"actual": actual, "limit": limit} if actual > limit else None)


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "overflow"): Operation(_attributed, _is_attributed),
        ("pi", "overflow"): Operation(_recognized, _is_reported_from_throttling),
        ("agent_code", "gap"): Operation(_gap, _is_of_whole_numbers),
    }
)
