"""Texts and tool outputs cut to a limit."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from foldline.engine.tokens.estimates import ESTIMATES, utf8_bytes
from foldline.engine.tokens.output_limits import (
    ELLIPSIS,
    MAX_OUTPUT_BYTES,
    MAX_OUTPUT_LINES,
    Truncated,
    fit_text,
    limit_output,
)
from tests.parity.vectors import Json, Operation, Operations

ESTIMATE: Final = ESTIMATES["neurolink"]


def _answer(cut: Truncated) -> Json:
    return {"kept_text": cut.kept, "truncated": cut.is_cut}


def _fit_text(args: Json) -> Json:
    return _answer(fit_text(args["text"], args["max_tokens"], ESTIMATE, args["provider"]))


def _fits_its_budget(args: Json, found: Json) -> bool:
    kept = found["kept_text"]
    shown = kept + ELLIPSIS if found["truncated"] and kept else kept
    return bool(args["text"].startswith(kept) and ESTIMATE.text(shown, args["provider"]) <= args["max_tokens"])


def _limits(args: Json) -> tuple[int, int]:
    given = args["max_bytes"], args["max_lines"]
    return (
        MAX_OUTPUT_BYTES if given[0] is None else given[0],
        MAX_OUTPUT_LINES if given[1] is None else given[1],
    )


def _limit_output(args: Json) -> Json:
    return _answer(limit_output(args["text"], *_limits(args), args["direction"]))


def _keeps_its_limits(args: Json, found: Json) -> bool:
    text, kept = args["text"], found["kept_text"]
    max_bytes, max_lines = _limits(args)
    is_side = text.startswith(kept) if args["direction"] == "head" else text.endswith(kept)
    return bool(is_side and utf8_bytes(kept) <= max_bytes and kept.count("\n") < max_lines)


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "fit_text"): Operation(_fit_text, _fits_its_budget),
        ("neurolink", "tool_output_limit"): Operation(_limit_output, _keeps_its_limits),
    }
)
