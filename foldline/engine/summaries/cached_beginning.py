"""The beginning of a view that a model's provider has in its cache, for a summarizer that is the same model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foldline.engine.messages import JsonObject


class CachedBeginning(NamedTuple):
    """The last view that the model answered, up to the end of what is to be summarized.

    `writer` is the summarizer that may be sent it, in wire messages of its format. `tokens` are those of all of it,
    unscaled. The first `stays` messages, beside the system prompt, are before the range and stay in view.
    """

    writer: str
    system: str | None
    tools: Sequence[JsonObject]
    messages: Sequence[JsonObject]
    tokens: int
    stays: int = 0
