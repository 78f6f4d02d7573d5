"""The models that Foldline knows, by names as users write them, and sizes as people write them (`128k`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.models import catalogue
from foldline.engine.models.prices import Prices


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A context window in tokens; `is_exact` if the model's own tokenizer is the one that Foldline counts with.

    `answer` are tokens that no request may have, as the provider keeps them for its answer.
    """

    tokens: int
    is_exact: bool = False
    answer: int = 0


class Known(NamedTuple):
    """A model that Foldline knows: provider, name, context window in tokens, where that is from, and its prices.

    `request` is the most tokens that a request may have, where that is less than the window.
    """

    provider: str
    name: str
    tokens: int
    source: str
    prices: Prices | None = None
    request: int | None = None

    @property
    def window(self) -> ContextWindow:
        """Its context window."""
        is_exact = self.provider == "openai" and bool(_EXACT.match(self.name))
        return ContextWindow(self.tokens, is_exact, self.tokens - (self.request or self.tokens))


_GOOGLE: Final = "ai.google.dev/gemini-api/docs/models"
_GEMINI: Final = (
    "gemini-1.5-flash",
    "gemini-1.5-flash-8b",
    "gemini-2.0-flash",
    "gemini-3-pro",
    "gemini-3-flash",
    "gemini-3-flash-preview",
    "gemini-3.1-pro",
)
_MISTRAL: Final = "docs.mistral.ai/getting-started/models"
_OPENAI: Final = "platform.openai.com/docs/models"
_CLAUDE: Final = "docs.anthropic.com, legacy models"
_DEEPSEEK: Final = "api-docs.deepseek.com/news/news250821"
# Where we know better than the catalogue, or it knows nothing; each row with its source. Dated releases need no row.
OWN: Final = (
    *(Known("openai", name, 1_047_576, _OPENAI) for name in ("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano")),
    Known("openai", "gpt-4-32k", 32_768, _OPENAI),
    *(
        Known("openai", f"{name}-chat{release}", 128_000, _OPENAI)
        for name in ("gpt-5", "gpt-5.1", "gpt-5.2")
        for release in ("", "-latest")
    ),
    *(Known("openai", f"gpt-3.5-turbo-{release}", 4_096, _OPENAI) for release in ("0301", "0613", "instruct")),
    *(Known("anthropic", name, 100_000, _CLAUDE) for name in ("claude-2.0", "claude-v2", "claude-instant-1.2")),
    *(Known("anthropic", name, 200_000, _CLAUDE) for name in ("claude-2.1", "claude-v2:1")),
    *(Known("deepseek", name, 128_000, _DEEPSEEK) for name in ("deepseek-chat", "deepseek-reasoner")),
    Known("google", "gemini-1.5-pro", 2_097_152, _GOOGLE),
    *(Known("google", name, 1_048_576, _GOOGLE) for name in _GEMINI),
    Known("google", "gemini-2.0-flash-thinking-exp-1219", 32_767, _GOOGLE),
    *(Known("mistral", name, 128_000, _MISTRAL) for name in ("mistral-medium", "mistral-small")),
    *(
        Known("mistral", name, 32_768, _MISTRAL)
        for name in ("mistral-large-2402", "mistral-medium-2312", "mistral-small-2402")
    ),
)
# Models whose own tokenizer is the one that Foldline counts with.
_EXACT: Final = re.compile(r"(?:chatgpt-4o|gpt-4o|gpt-4\.1|gpt-5|o[134])(?![a-z0-9])")

# Providers as their users write them, by the catalogue's names.
_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("bedrock", "bedrock_converse", "amazon-bedrock", "amazon"), "aws"),
        **dict.fromkeys(("vertex_ai", "vertex", "google-vertex", "gemini", "google-ai", "google_genai"), "google"),
        # Google's own API lists its models as `models/NAME`.
        "models": "google",
        **dict.fromkeys(("azure_ai", "azure-openai", "azure_openai"), "azure"),
        **dict.fromkeys(("xai", "x_ai"), "x-ai"),
        **dict.fromkeys(("moonshot", "kimi"), "moonshotai"),
        **dict.fromkeys(("mistralai", "mistral-ai"), "mistral"),
        **dict.fromkeys(("z-ai", "z.ai"), "zai"),
        "together_ai": "together",
        "fireworks_ai": "fireworks",
        "meta-llama": "meta",
    }
)
# Who makes the models that they serve, in the order in which a name without a provider is looked for.
MAKERS: Final = (
    "anthropic", "openai", "google", "mistral", "deepseek", "x-ai", "moonshotai", "cohere", "minimax", "zai", "meta",
    "perplexity",
)  # fmt: skip
# Those who serve models of others, under names that may begin with a region and the maker.
_CLOUDS: Final = frozenset({"", "aws", "azure", "google", "openrouter"})
# A region, or a kind of deployment: Bedrock's `us.anthropic.…`, `azure/eu/…`, `azure/global-standard/…`.
_REGIONS: Final = r"(?:us|eu|apac|jp|au|in|ca|us-gov|regional|global(?:-standard)?)[./]"
_REGION: Final = re.compile(rf"^{_REGIONS}")
# Suffixes by which OpenRouter chooses among those who serve a model; others, such as `:free`, are models of their own.
_ROUTING: Final = re.compile(r":(?:nitro|floor|online|exacto)$")
_MAKERS: Final = rf"(?:{'|'.join((*MAKERS, *_NAMES))})[./]"
_MAKER: Final = re.compile(rf"^{_MAKERS}(?=.)")
_REVISION: Final = re.compile(r"-v\d+(?::\d+)?$")
_DATE: Final = r"\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{3,4}"
_DATED: Final = rf"[-@:](?:{_DATE}|latest|preview|exp|default)"
_RELEASE: Final = re.compile(rf"(?:{_DATED})+")
NEAREST: Final = 3

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
    """The context window of a model: the override, else the one that Foldline knows, else that of `listed`.

    That of `listed` comes first for a name without a provider.

    `listed` maps a name and a provider, empty if there is none, to a window in another table.

    Raises:
        UnknownModel: no table has such a model and no window was given.
        InvalidPolicy: the override is not a size.
    """
    known = known_model(model)
    if override is not None:
        return ContextWindow(parse_size(override), is_exact=known is not None and known.window.is_exact)
    provider, name = _split(model)
    tokens = listed(name, provider) if listed else None
    # A name without a provider is one of the table's own.
    if known is not None and (provider or tokens is None):
        return known.window
    if tokens is None:
        raise UnknownModel(model, nearest_names(model))
    return ContextWindow(tokens)


def put_first(rows: Iterable[Known]) -> None:
    """Look for models in these rows first, throughout this process; they take the place of those put first before.

    A process does this once, before it looks for a model: `engine` reads no file. A row without prices has those of
    the catalogue.
    """
    _first[:] = [_priced(row._replace(provider=_NAMES.get(row.provider, row.provider))) for row in rows]
    known_model.cache_clear()


def known_models() -> list[Known]:
    """All models that Foldline knows: those put first, then its own rows, then those of the catalogue."""
    found: dict[tuple[str, str], Known] = {}
    for known in (*_first, *_own(), *(row.known for rows in _catalogue().values() for row in rows)):
        found.setdefault((known.provider, known.name), known)
    return list(found.values())


def nearest_names(model: str) -> list[str]:
    """Up to `NEAREST` names of known models that look like this one, with their providers."""
    names = {known.name: f"{known.provider}/{known.name}" for known in reversed(known_models())}
    close = get_close_matches(_split(model.lower())[1], names, NEAREST)
    return [names[name] for name in close]


@lru_cache(maxsize=256)
def known_model(model: str) -> Known | None:
    """The known model of a name as its users write it; None if there is none.

    The provider may be missing (`gpt-4o`), or be a cloud that serves models of others (`azure/gpt-4o`,
    `bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `openrouter/anthropic/claude-sonnet-4.5`).
    """
    provider, name = _split(model.lower())
    provider = _NAMES.get(provider, provider)
    found = _found(provider, name)
    if found is not None or provider not in _CLOUDS or not name:
        return found
    bare = _REGION.sub("", name)
    maker = _MAKER.match(bare)
    makers = (*(known.provider for known in _first), *MAKERS)
    if maker is not None:
        bare, written = bare[maker.end() :], maker[0][:-1]
        makers = (_NAMES.get(written, written),)
    names = dict.fromkeys(
        (bare, _REVISION.sub("", bare), *([_ROUTING.sub("", bare)] if provider == "openrouter" else []))
    )
    return next((known for maker in makers for name in names if (known := _found(maker, name)) is not None), None)


def provider_of(model: str) -> str:
    """The provider that a model's name begins with, by the catalogue's name, else its maker; empty if none is known."""
    provider, _ = _split(model.lower())
    known = None if provider else known_model(model)
    return known.provider if known else _NAMES.get(provider, provider)


def _split(model: str) -> tuple[str, str]:
    """Provider and name; without a slash the provider is empty."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash else ("", model)


def _found(provider: str, name: str) -> Known | None:
    """A provider's model of this name, or the one that the name is a dated release of; the longest name wins."""
    first, own = ([known for known in rows if known.provider == provider] for rows in (_first, _own()))
    return _named(first, (), name) or _named(own, _catalogue().get(provider, ()), name)


def _named(own: Sequence[Known], rows: Sequence[_Row], name: str) -> Known | None:
    exact = (*(known for known in own if known.name == name), *(row.known for row in rows if row.is_named(name)))
    if exact:
        return exact[0]
    releases = [known for known in (*own, *(row.known for row in rows)) if _is_dated(name, known.name)]
    return max(releases, key=lambda known: len(known.name), default=None)


def _is_dated(name: str, base: str) -> bool:
    return name.startswith(base) and _RELEASE.fullmatch(name, len(base)) is not None


class _Row(NamedTuple):
    """A row of the catalogue, with the ways in which it recognizes names."""

    known: Known
    ways: tuple[str, ...]

    def is_named(self, name: str) -> bool:
        return any(_WAYS[way[0]](name, way[1:]) for way in self.ways)


def _begins(name: str, pattern: str) -> bool:
    # A pattern may end before a date, or inside one.
    whole = _IN_A_DATE.sub("", pattern)
    after = _AFTER_CLAUDE if "claude" in pattern else _AFTER
    return name.startswith(pattern) and after.fullmatch(name, len(whole)) is not None


def _ends(name: str, pattern: str) -> bool:
    return name.endswith(pattern) and _BEFORE.fullmatch(name, 0, len(name) - len(pattern)) is not None


def _contains(name: str, pattern: str) -> bool:
    at = name.find(pattern)
    return at >= 0 and _BEFORE.fullmatch(name, 0, at) is not None and _begins(name[at:], pattern)


# The catalogue's patterns, where nothing but a region or maker is before them, and a release or mode after them: any
# other name is that of another model, whose window may be smaller.
_WAYS: Final[Mapping[str, Callable[[str, str], object]]] = MappingProxyType(
    {
        "=": str.__eq__,
        "^": _begins,
        "$": _ends,
        "*": _contains,
        "~": lambda name, pattern: re.search(pattern, name),
    }
)
_BEFORE: Final = re.compile(rf"(?:{_REGIONS})?(?:{_MAKERS})?")
_IN_A_DATE: Final = re.compile(r"[-@:](?:20\d{0,6})?$")
_AFTER: Final = re.compile(rf"(?:{_DATED}|-v\d+(?::\d+)?)*")
_AFTER_CLAUDE: Final = re.compile(rf"(?:{_DATED}|-v\d+(?::\d+)?|[-:](?:fast|thinking))*")


# The only state of the engine: which models there are is a fact of the process, not of a call.
_first: list[Known] = []


@lru_cache(maxsize=1)
def _own() -> Sequence[Known]:
    return [_priced(known) for known in OWN]


def _priced(known: Known) -> Known:
    """The same model; if it has no prices, with those of the catalogue."""
    listed = (row.known for row in _catalogue().get(known.provider, ()) if row.known.name == known.name)
    prices = known.prices or next((found.prices for found in listed), None)
    return known._replace(prices=prices)


@lru_cache(maxsize=1)
def _catalogue() -> Mapping[str, Sequence[_Row]]:
    """The catalogue's rows by provider; read when the first model is looked for."""
    found: dict[str, list[_Row]] = {}
    for line in catalogue.ROWS.split("\n"):
        if line:
            provider, name, figures, prices, *ways = line.split(" ")
            tokens, source, request = _figures(figures)
            known = Known(provider, name, tokens, source, Prices.parse(prices), request)
            found.setdefault(provider, []).append(_Row(known, tuple(ways)))
    return found


def _figures(text: str) -> tuple[int, str, int | None]:
    """A window of the catalogue, its source, and the most tokens of a request if those are fewer."""
    window, _, second = text.partition("/")
    if window == "-":
        return int(second), f"{catalogue.SECOND_SOURCE}, {catalogue.DATE}", None
    tokens, request = int(window), int(second or window)
    return tokens, f"{catalogue.SOURCE}, {catalogue.DATE}", request if request < tokens else None


def is_release_of(name: str, prefix: str) -> bool:
    """Whether `name` is `prefix` or continues it at a separator: `o1` is no prefix of `o10`."""
    return name.startswith(prefix) and not name[len(prefix) : len(prefix) + 1].isalnum()
