"""What the input of a summary costs in each of its two forms: the cached beginning of a view, or a transcript."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from foldline.engine.models.prices import MILLION, Prices
from foldline.engine.summaries.chunks import FRAME_TOKENS
from foldline.engine.summaries.prompt import SummaryInput, own_text, question, said_tokens
from foldline.engine.tokens.counter import count_text


class InputCosts(NamedTuple):
    """US dollars for the input of one summary: as the `view` with a question below it, and as a `transcript`."""

    view: float
    transcript: float

    @property
    def is_view_cheaper(self) -> bool:
        """Whether the view with the question costs less."""
        return self.view < self.transcript


def input_costs(request: SummaryInput, prices: Prices | None) -> InputCosts | None:
    """The costs of both forms by published prices; None without a cached beginning, or where a price is not known.

    A transcript that takes several calls costs more than this, because each call repeats the instructions.
    """
    beginning = request.beginning
    if beginning is None or prices is None or prices.input is None or prices.cached_input is None:
        return None
    view = beginning.tokens * prices.cached_input + question_tokens(request) * prices.input
    return InputCosts(view / MILLION, transcript_tokens(request) * prices.input / MILLION)


def question_tokens(request: SummaryInput) -> int:
    """The tokens of the question that stands below a view."""
    return count_text(question(request))


def transcript_tokens(request: SummaryInput) -> int:
    """The tokens of a prompt with the transcript that has room for all of it."""
    earlier = sum(count_text(text) + FRAME_TOKENS for text in request.previous)
    return count_text(own_text(replace(request, beginning=None))) + said_tokens(request) + earlier
