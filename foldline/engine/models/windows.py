"""Foldline's own table of context windows by model, and sizes as people write them (`128k`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from foldline.engine.errors import InvalidPolicy, UnknownModel


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A context window in tokens; `is_exact` if the model's own tokenizer is the one that Foldline counts with."""

    tokens: int
    is_exact: bool = False


# Sizes as the providers publish them. The row with the longest prefix of a model's name counts, so that dated releases
# need no row of their own.
MODELS: Final[Mapping[str, Mapping[str, ContextWindow]]] = MappingProxyType(
    {
        "openai": MappingProxyType(
            {
                "gpt-4o": ContextWindow(128_000, is_exact=True),
                "gpt-4.1": ContextWindow(1_047_576, is_exact=True),
                "gpt-5": ContextWindow(400_000, is_exact=True),
                "gpt-4-turbo": ContextWindow(128_000),
                "gpt-4-32k": ContextWindow(32_768),
                "gpt-4": ContextWindow(8_192),
                "gpt-3.5-turbo": ContextWindow(16_385),
                "o1-mini": ContextWindow(128_000, is_exact=True),
                "o1": ContextWindow(200_000, is_exact=True),
                "o3": ContextWindow(200_000, is_exact=True),
                "o4-mini": ContextWindow(200_000, is_exact=True),
            }
        ),
        "anthropic": MappingProxyType(
            {
                "claude-3": ContextWindow(200_000),
                "claude-sonnet-4": ContextWindow(200_000),
                "claude-opus-4": ContextWindow(200_000),
                "claude-haiku-4": ContextWindow(200_000),
            }
        ),
        "google": MappingProxyType(
            {
                "gemini-1.5-pro": ContextWindow(2_097_152),
                "gemini-1.5-flash": ContextWindow(1_048_576),
                "gemini-2": ContextWindow(1_048_576),
                "gemini-3": ContextWindow(1_048_576),
            }
        ),
        "mistral": MappingProxyType(
            {
                "mistral-large": ContextWindow(128_000),
                "mistral-medium": ContextWindow(128_000),
                "mistral-small": ContextWindow(128_000),
                "codestral": ContextWindow(256_000),
            }
        ),
        "deepseek": MappingProxyType(
            {
                "deepseek-chat": ContextWindow(128_000),
                "deepseek-reasoner": ContextWindow(128_000),
            }
        ),
    }
)

_SIZE: Final = re.compile(r"\s*(\d{1,12})\s*([kKmM]?)\s*")
_UNITS: Final = MappingProxyType({"": 1, "k": 1_000, "m": 1_000_000})


def parse_size(value: int | str) -> int:
    """Tokens from a number, or from a text such as `"128k"` (128,000) or `"1m"`.

    Raises:
        InvalidPolicy: the value is not a positive size.
    """
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match:
        value = int(match[1]) * _UNITS[match[2].lower()]
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        detail = f'must be a positive number of tokens or a size such as "128k", not {value!r}'
        raise InvalidPolicy("context_window", detail)
    return value


def window_of(
    model: str, override: int | str | None = None, listed: Callable[[str, str], int | None] | None = None
) -> ContextWindow:
    """The context window of a model: the override, else that of Foldline's own table, else that of `listed`.

    `model` is provider/name; Foldline's own table has no model without a provider. `listed` maps a name and a provider,
    empty if there is none, to a window in another table.

    Raises:
        UnknownModel: no table has such a model and no window was given.
        InvalidPolicy: the override is not a size.
    """
    known = _known(model)
    if override is not None:
        return ContextWindow(parse_size(override), is_exact=known is not None and known.is_exact)
    if known is not None:
        return known
    provider, name = _split(model)
    tokens = listed(name, provider) if listed else None
    if tokens is None:
        raise UnknownModel(model)
    return ContextWindow(tokens)


def _split(model: str) -> tuple[str, str]:
    """Provider and name; without a slash the provider is empty."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash else ("", model)


def is_known(model: str) -> bool:
    """Whether Foldline's own table has the model."""
    return _known(model) is not None


def _known(model: str) -> ContextWindow | None:
    provider, name = _split(model)
    rows = MODELS.get(provider, {})
    prefixes = [prefix for prefix in rows if is_release_of(name, prefix)]
    return rows[max(prefixes, key=len)] if prefixes else None


def is_release_of(name: str, prefix: str) -> bool:
    """Whether `name` is `prefix` or continues it at a separator: `o1` is no prefix of `o10`."""
    return name.startswith(prefix) and not name[len(prefix) : len(prefix) + 1].isalnum()
