"""The library for single texts: their tokens by a counter, and heads or tails of them within a limit."""

from __future__ import annotations

from foldline.engine.errors import InvalidPolicy
from foldline.engine.tokens import output_limits
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import COUNTERS, ESTIMATES, EXACT
from foldline.engine.tokens.output_limits import Truncated


def count_tokens(text: str, counter: str = EXACT, *, provider: str | None = None, is_code: bool = False) -> int:
    """Tokens of a text, by the tokenizer or by the estimate of another system.

    `provider` and `is_code` change only estimates that distinguish them, as NeuroLink's does.

    Raises:
        InvalidPolicy: there is no such counter.
    """
    if counter == EXACT:
        return count_text(text)
    if counter not in ESTIMATES:
        raise InvalidPolicy("counter", f"{counter!r} is no counter; available: {', '.join(COUNTERS)}")
    return ESTIMATES[counter].text(text, provider, is_code=is_code)


def fit_text(text: str, budget_tokens: int, counter: str, *, provider: str | None = None) -> Truncated:
    """The head of a text and an ellipsis, together within the budget by an estimate (`output_limits.fit_text`).

    Raises:
        InvalidPolicy: there is no such estimate.
    """
    if counter not in ESTIMATES:
        raise InvalidPolicy("counter", f"{counter!r} is no estimate; available: {', '.join(ESTIMATES)}")
    return output_limits.fit_text(text, budget_tokens, ESTIMATES[counter], provider)
