"""What a model's tokens cost, as a provider publishes it."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

NONE: Final = "-"
MILLION: Final = 1_000_000


class Prices(NamedTuple):
    """US dollars for a million tokens; None where no price is known.

    `input` is for a token that is neither read from the provider's prompt cache nor written to it. Where a provider
    asks more for long requests, these are the prices of short ones.
    """

    input: float | None = None
    cached_input: float | None = None
    cache_write: float | None = None
    output: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Prices from four figures with slashes between them, `-` for one that is unknown; None if all are."""
        figures = [None if figure == NONE else float(figure) for figure in text.split("/")]
        return None if figures == [None] * len(figures) else cls(*figures)

    @property
    def miss(self) -> float | None:
        """The price of an input token that was not in the cache, where the caller uses the cache."""
        return self.input if self.cache_write is None else self.cache_write

    def cost(self, input_tokens: int, output_tokens: int, *, cache_read: int = 0, cache_write: int = 0) -> float | None:
        """US dollars for a call; None where a price is not known.

        `cache_read` and `cache_write` are those of the `input_tokens` that were read from the cache, and written to it.
        Without a price of their own they cost as much as others.
        """
        if self.input is None or self.miss is None or self.output is None:
            return None
        read = self.input if self.cached_input is None else self.cached_input
        others = max(0, input_tokens - cache_read - cache_write)
        tokens = others * self.input + cache_read * read + cache_write * self.miss + output_tokens * self.output
        return tokens / MILLION

    @property
    def rates(self) -> CacheRates | None:
        """The prices of input as shares of its price without a cache; None where one of them is not known."""
        if not self.input or self.cached_input is None or self.miss is None:
            return None
        return CacheRates(self.cached_input / self.input, self.miss / self.input)


class CacheRates(NamedTuple):
    """What an input token costs, as shares of its price without a cache: read from the cache, and not found there."""

    cached: float
    missed: float


# Where no price of a model is known. (Anthropic, "Prompt caching": a read at a tenth, a write at five quarters.)
USUAL_RATES: Final = CacheRates(0.1, 1.25)
