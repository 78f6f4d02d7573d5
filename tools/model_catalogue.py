"""Writes `foldline/engine/models/catalogue.py`: context windows from genai-prices, a maintained catalogue (MIT).

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

HEADER: Final = '''"""Context windows by provider and model, as data. `make models` writes this file; do not edit it.

A line has the provider, the model, its window in tokens, and how its names are recognized: `=` the whole name, `^`
its beginning, `$` its end, `*` a part of it, `~` a pattern.
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


def _rows() -> Iterator[str]:
    by_id = {provider.id: provider for provider in providers}
    for name in PROVIDERS:
        for model in by_id[name].models:
            ways = [way for way in _found(model.match) if not any(mark.isspace() for mark in way)]
            if model.context_window and not any(word in model.id.lower() for word in LEFT_OUT):
                yield " ".join(
                    (name, model.id.lower(), str(model.context_window), *sorted({*ways, f"={model.id.lower()}"}))
                )


if __name__ == "__main__":
    facts = {
        "version": version("genai-prices"),
        "date": datetime.now(UTC).date().isoformat(),
        "rows": "\n".join(_rows()),
    }
    text = HEADER
    for name, fact in facts.items():
        text = text.replace(f"{{{name}}}", fact)
    sys.stdout.write(text)
