"""Writes `foldline/engine/models/catalogue.py` from two maintained catalogues (MIT): genai-prices and LiteLLM's.

The rows, their prices and most windows are those of genai-prices; LiteLLM's table has windows that it lacks, and is
compared with the others. Both are needed here alone: the library carries the rows, and not 46 MB of packages. `make
models` runs this with the versions that the Makefile pins, and lists the models that are left out because neither
catalogue has their window.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import distribution, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from genai_prices.data import providers

# Makers of models, then those who serve models of others.
PROVIDERS: Final = (
    "anthropic", "openai", "google", "mistral", "deepseek", "x-ai", "moonshotai", "cohere", "minimax", "zai", "meta",
    "perplexity", "aws", "azure", "cerebras", "fireworks", "groq", "together", "openrouter",
)  # fmt: skip
# Their names in LiteLLM's table, where those are others.
IN_LITELLM: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "openai": ("openai", "text-completion-openai"),
        "google": ("gemini", "vertex_ai-language-models", "vertex_ai"),
        "x-ai": ("xai",),
        "moonshotai": ("moonshot",),
        "cohere": ("cohere_chat", "cohere"),
        "meta": ("meta_llama",),
        "aws": ("bedrock_converse", "bedrock"),
        "azure": ("azure", "azure_ai"),
        "fireworks": ("fireworks_ai",),
        "together": ("together_ai",),
    }
)
LITELLM_TABLE: Final = "litellm/model_prices_and_context_window_backup.json"
TEXT: Final = frozenset({"chat", "completion", "responses"})
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
name, `^` its beginning, `$` its end, `*` a part of it, `~` a pattern. Where `SECOND_SOURCE` has another figure for the
tokens of a request, that stands behind the window and a `/`; a `-` before it if only that source has one.
"""

from typing import Final

SOURCE: Final = "{first}"
SECOND_SOURCE: Final = "{second}"
DATE: Final = "{date}"
ROWS: Final = r"""
{rows}
"""
'''


class Row(NamedTuple):
    """A chat model: its window in tokens in genai-prices, and the tokens of a request in LiteLLM's table, if known."""

    provider: str
    name: str
    window: int | None
    request: int | None
    prices: str
    ways: Sequence[str]

    def __str__(self) -> str:
        """The line of the catalogue."""
        same = self.request in {None, self.window}
        figures = str(self.window) if same else f"{self.window or '-'}/{self.request}"
        return " ".join((self.provider, self.name, figures, self.prices, *self.ways))


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


def _litellm() -> dict[str, dict[str, int]]:
    """The tokens of a request to LiteLLM's text models by provider and name.

    The table is read without an import of its package, which needs fifty more.
    """
    table = json.loads(Path(str(distribution("litellm").locate_file(LITELLM_TABLE))).read_text(encoding="utf-8"))
    found: dict[str, dict[str, int]] = {}
    for name, facts in table.items():
        if facts.get("mode") in TEXT and facts.get("max_input_tokens"):
            bare = name.lower().rpartition("/models/")[2]
            found.setdefault(facts["litellm_provider"], {})[bare] = facts["max_input_tokens"]
    return found


def _request(table: Mapping[str, Mapping[str, int]], provider: str, names: Sequence[str]) -> int | None:
    """The tokens of a request to the provider's model of these names, or to its maker's; None if LiteLLM has none.

    That of the first name, else the least of the others: some are older releases.
    """
    for theirs in IN_LITELLM.get(provider, (provider,)):
        listed = table.get(theirs, {})
        found = {name: listed[way] for name in names for way in (name, f"{theirs}/{name}") if way in listed}
        if found:
            return found.get(names[0], min(found.values()))
    made = [name.partition("/") for name in names]
    makers = {maker for maker, _, name in made if name and maker in PROVIDERS and maker != provider}
    return next((_request(table, maker, [name for by, _, name in made if by == maker]) for maker in makers), None)


def _rows() -> Iterator[Row]:
    by_id, table = {provider.id: provider for provider in providers}, _litellm()
    for provider in PROVIDERS:
        for model in by_id[provider].models:
            name = model.id.lower()
            if not any(word in name for word in LEFT_OUT):
                ways = [way for way in _found(model.match) if not any(mark.isspace() for mark in way)]
                request = _request(table, provider, [name, *(way[1:] for way in ways if way[0] != "~")])
                yield Row(provider, name, model.context_window, request, _prices(model), sorted({*ways, f"={name}"}))


def _report(left_out: Sequence[Row]) -> Iterator[str]:
    """What the caller has to know: the models that nobody has a window of, by provider."""
    yield f"left out, as neither catalogue has a window: {len(left_out)} models"
    for provider in PROVIDERS:
        if names := [row.name for row in left_out if row.provider == provider]:
            yield f"{provider} ({len(names)}): {', '.join(names)}"


def main() -> None:
    """Write the catalogue to standard output, and what was left out of it to the other."""
    rows = list(_rows())
    facts = {
        "first": f"genai-prices {version('genai-prices')}",
        "second": f"LiteLLM {version('litellm')}",
        "date": NOW.date().isoformat(),
        "rows": "\n".join(str(row) for row in rows if row.window or row.request),
    }
    text = HEADER
    for name, fact in facts.items():
        text = text.replace(f"{{{name}}}", fact)
    sys.stdout.write(text)
    for line in _report([row for row in rows if not (row.window or row.request)]):
        sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()
