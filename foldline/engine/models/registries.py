"""The context windows that other systems list, in tokens, as data.

Foldline's own are in `foldline.engine.models.windows`. These systems have a default window for unknown models; Foldline
has none, and takes that of a system only under the presets whose document promises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol

import regex

from foldline.engine.models.windows import is_release_of


class Registry(Protocol):
    """A table of context windows with a default for models that it does not list."""

    def known(self, model: str | None, provider: str | None = None, /) -> int | None:
        """The window of a listed model, else None."""

    def window(self, model: str | None, provider: str | None = None, /) -> int:
        """The window of a model; a default if it is not listed."""

    def given(self, model: str | None, provider: str | None = None, /) -> int | None:
        """The window that a session gets: a listed one, or the default if the registry gives it to sessions."""

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """All rows as provider, name and window; the provider is empty in a table without providers."""


@dataclass(frozen=True, slots=True)
class ByPrefix:
    """A registry by name: the provider's longest name that the model's name begins with, else a default.

    The default is the provider's own, else `fallback`. `gives_defaults`: a session gets it too.
    """

    windows: Mapping[str, Mapping[str, int]]
    fallback: int
    gives_defaults: bool = False
    defaults: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def known(self, model: str | None, provider: str | None = None) -> int | None:
        """See `Registry`. A table without providers finds a model by its name alone."""
        rows = self.windows.get(provider or "", {}) or self.windows.get("", {})
        found = [name for name in rows if is_release_of(model or "", name)]
        return rows[max(found, key=len)] if found else None

    def window(self, model: str | None, provider: str | None = None) -> int:
        """See `Registry`."""
        return self.known(model, provider) or self.defaults.get(provider or "", self.fallback)

    def given(self, model: str | None, provider: str | None = None) -> int | None:
        """See `Registry`."""
        return self.window(model, provider) if self.gives_defaults else self.known(model, provider)

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """See `Registry`."""
        return ((provider, *row) for provider, rows in self.windows.items() for row in rows.items())


@dataclass(frozen=True, slots=True)
class ByWord:
    """A registry by word: the first of its words that is in the model's name, in any case, else `fallback`."""

    words: tuple[tuple[str, int], ...]
    fallback: int

    def known(self, model: str | None, _provider: str | None = None, /) -> int | None:
        """See `Registry`."""
        # Whole words only: the "1m" in "3.1m" or "1mini" means something else.
        name = (model or "").lower()
        is_in = partial(regex.search, string=name)
        found = (
            tokens for word, tokens in self.words if is_in(rf"(?<![a-z0-9])(?<!\d\.){regex.escape(word)}(?![a-z0-9])")
        )
        return next(found, None)

    def window(self, model: str | None, _provider: str | None = None, /) -> int:
        """See `Registry`."""
        return self.known(model) or self.fallback

    def given(self, model: str | None, _provider: str | None = None, /) -> int | None:
        """See `Registry`."""
        return self.known(model)

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """See `Registry`."""
        return (("", *row) for row in self.words)


def _same(tokens: int, *names: str) -> dict[str, int]:
    return dict.fromkeys(names, tokens)


_GEMINI: Final = {
    **_same(1_048_576, "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash", "gemini-1.5-flash"),
    "gemini-1.5-pro": 2_097_152,
}
_CLAUDE: Final = (
    "claude-opus-4-20250514",
    "claude-sonnet-4-20250514",
    "claude-3-7-sonnet-20250219",
    "claude-3-5-sonnet-20241022",
    "claude-3-5-haiku-20241022",
    "claude-3-opus-20240229",
    "claude-3-sonnet-20240229",
    "claude-3-haiku-20240307",
)
_GPT_4: Final = {**_same(128_000, "gpt-4o", "gpt-4o-mini", "gpt-4-turbo"), "gpt-4": 8_192}

NEUROLINK: Final = ByPrefix(
    windows=MappingProxyType(
        {
            "anthropic": _same(200_000, *_CLAUDE),
            "openai": {
                **_GPT_4,
                "gpt-3.5-turbo": 16_385,
                "o1-mini": 128_000,
                **_same(200_000, "o1", "o1-pro", "o3", "o3-mini", "o4-mini"),
                **_same(1_047_576, "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-5"),
            },
            "google-ai": {**_GEMINI, **_same(1_048_576, "gemini-3-flash-preview", "gemini-3-pro-preview")},
            "vertex": _GEMINI,
            "bedrock": {
                **_same(
                    200_000,
                    "anthropic.claude-3-5-sonnet-20241022-v2:0",
                    "anthropic.claude-3-5-haiku-20241022-v1:0",
                    "anthropic.claude-3-opus-20240229-v1:0",
                    "anthropic.claude-3-sonnet-20240229-v1:0",
                    "anthropic.claude-3-haiku-20240307-v1:0",
                ),
                **_same(300_000, "amazon.nova-pro-v1:0", "amazon.nova-lite-v1:0"),
            },
            "azure": _GPT_4,
            "mistral": {
                **_same(128_000, "mistral-large-latest", "mistral-small-latest"),
                "mistral-medium-latest": 32_000,
                "codestral-latest": 256_000,
            },
        }
    ),
    defaults=MappingProxyType(
        {
            "anthropic": 200_000,
            "google-ai": 1_048_576,
            "vertex": 1_048_576,
            "bedrock": 200_000,
            "huggingface": 32_000,
        }
    ),
    fallback=128_000,
    gives_defaults=True,
)

AGENT_CODE: Final = ByWord(
    words=(
        ("1m", 1_000_000),
        ("1000k", 1_000_000),
        ("opus", 200_000),
        ("sonnet", 200_000),
        ("haiku", 200_000),
        ("gpt-4o", 128_000),
        ("gpt-4", 128_000),
        ("gpt-3.5", 16_384),
    ),
    fallback=128_000,
)

CODEBUDDY: Final = ByPrefix(
    windows=MappingProxyType(
        {
            "": {
                **_same(
                    200_000,
                    "claude-sonnet-4-20250514",
                    "claude-3-5-sonnet-20241022",
                    "claude-3-opus-20240229",
                    "claude-3-haiku-20240307",
                    "o1",
                ),
                **_same(128_000, "gpt-4o", "gpt-4o-mini", "gpt-4-turbo", "o1-mini"),
                **_same(128_000, "llama-3.3-70b-versatile", "llama-3.1-70b-versatile", "glm-4-plus"),
                "gpt-4": 8_192,
                "mixtral-8x7b-32768": 32_768,
                **_same(1_048_576, "gemini-2.0-flash", "gemini-1.5-flash"),
                "gemini-1.5-pro": 2_097_152,
                **_same(64_000, "deepseek-chat", "deepseek-coder"),
                **_same(131_072, "qwen-plus", "qwen-turbo"),
            }
        }
    ),
    fallback=16_000,
)

# The longest answers of models, for the layout whose output reserve depends on them.
AGENT_CODE_OUTPUT: Final = ByWord(words=(("opus", 16_384), ("sonnet", 16_384), ("haiku", 8_192)), fallback=16_384)

REGISTRIES: Final[Mapping[str, Registry]] = MappingProxyType(
    {"neurolink": NEUROLINK, "agent-code": AGENT_CODE, "codebuddy": CODEBUDDY}
)
