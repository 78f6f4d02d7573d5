"""Writes `foldline/engine/models/catalogue.py`: windows and prices from genai-prices, a maintained catalogue (MIT).

It is needed here alone: the library carries the rows, and not a package of 1.6 MB with its dependencies. `make models`
runs this with the version that the Makefile pins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

from genai_prices.data import providers

# Makers of models, then those who serve models of others.
PROVIDERS: Final = (
    "anthropic", "openai", "google", "mistral", "deepseek", "x-ai", "moonshotai", "cohere", "minimax", "zai", "meta",
    "perplexity", "aws", "azure", "cerebras", "fireworks", "groq", "together", "openrouter",
)  # fmt: skip
# How a row finds a name: by its whole, its beginning, its end, a part of it, or a pattern.
SIGNS: Final = (
    ("equals", "="), ("starts_with", "^"), ("ends_with", "$"), ("contains", "*"), ("regex", "~"),
)  # fmt: skip
# They are no chat models.
LEFT_OUT: Final = (
    "embed",
    "tts",
    "whisper",
    "image",
    "audio",
    "realtime",
    "transcribe",
    "moderation",
    "rerank",
    "guard",
)

# US dollars for a million tokens, in the order of `foldline.engine.models.prices.Prices`.
PRICES: Final = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
NOW: Final = datetime.now(UTC)

HEADER: Final = '''"""Windows and prices by provider and model, as data. `make models` writes this file; do not edit it.

A line has the provider, the model, its window in tokens, its prices (US dollars for a million tokens of input, input
read from the cache, input written to it, and output; `-` if unknown), and how its names are recognized: `=` the whole
name, `^` its beginning, `$` its end, `*` a part of it, `~` a pattern.
"""

from typing import Final

SOURCE: Final = "genai-prices {version}"
DATE: Final = "{date}"
ROWS: Final = r"""
{rows}
"""
'''


def _found(clause: Any) -> Iterator[str]:
    """The ways in which a clause of the catalogue recognizes a name; one that needs several at once is left out."""
    for alternative in getattr(clause, "or_", None) or [clause]:
        for name, sign in SIGNS:
            if hasattr(alternative, name):
                yield sign + str(getattr(alternative, name)).lower()


def _price(found: Any) -> str:
    """A price as text: of two that differ by the length of the request, that of short ones."""
    price = getattr(found, "base", found)
    return "-" if price is None else f"{price.normalize():f}"


def _prices(model: Any) -> str:
    """The prices on the day on which the catalogue is written."""
    found = model.get_prices(NOW)
    return "/".join(_price(getattr(found, name)) for name in PRICES)


def _rows() -> Iterator[str]:
    by_id = {provider.id: provider for provider in providers}
    for name in PROVIDERS:
        for model in by_id[name].models:
            ways = [way for way in _found(model.match) if not any(mark.isspace() for mark in way)]
            if model.context_window and not any(word in model.id.lower() for word in LEFT_OUT):
                facts = (name, model.id.lower(), str(model.context_window), _prices(model))
                yield " ".join((*facts, *sorted({*ways, f"={model.id.lower()}"})))


if __name__ == "__main__":
    facts = {
        "version": version("genai-prices"),
        "date": NOW.date().isoformat(),
        "rows": "\n".join(_rows()),
    }
    text = HEADER
    for name, fact in facts.items():
        text = text.replace(f"{{{name}}}", fact)
    sys.stdout.write(text)
