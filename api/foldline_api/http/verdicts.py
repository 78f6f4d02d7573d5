"""What a provider's refusal of a view means, in answers and in problems."""

from __future__ import annotations

from typing import Any

from foldline.engine.overflow import Verdict


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """What a provider's refusal means."""
    return {
        "is_overflow": verdict.is_overflow,
        "is_reasoning_refused": verdict.is_reasoning_refused,
        "is_too_large": verdict.is_too_large,
        "provider": verdict.provider,
        "actual_tokens": verdict.actual_tokens,
        "limit_tokens": verdict.limit_tokens,
        "retryable": verdict.retryable,
    }
