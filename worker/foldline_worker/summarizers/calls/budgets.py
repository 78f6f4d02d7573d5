"""The tokens and US dollars that summarizers may use for a tenant in a day, by all processes that share a broker."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from time import monotonic
from typing import Final, Self

from cachetools import TTLCache
from limits import RateLimitItemPerDay
from limits.errors import StorageError
from limits.storage import Storage

from foldline.engine.models.prices import Prices
from foldline.log.events import TenantLimited
from foldline.settings import Settings
from foldline_worker.summarizers.calls.rates import storages_at

logger = logging.getLogger(__name__)

TOKENS: Final = "tenant_summary_tokens_per_day"
USD: Final = "tenant_summary_usd_per_day"
# Storages count whole numbers.
PARTS_OF_A_DOLLAR: Final = 1_000_000


# A summary is not held up by a broker that keeps silent: after a failure, this process counts alone for a while.
ANSWER_SECONDS: Final = 0.5
ALONE_SECONDS: Final = 30.0
# For so long a total is good for the next look, which is before each call: what other processes spend is seen later.
KNOWN_SECONDS: Final = 1.0
KNOWN_MAX: Final = 4096


def _known_totals() -> TTLCache[str, int]:
    return TTLCache(KNOWN_MAX, KNOWN_SECONDS, timer=monotonic)


@dataclass(slots=True)
class Budgets:
    """The budgets of each payer, in tokens and in millionths of a dollar; a missing one is no limit.

    A day begins with the first call. They are counted in the first storage that answers.
    """

    limits: Mapping[str, RateLimitItemPerDay]
    storages: Sequence[Storage] = ()
    _again_at: float = 0.0
    _known: TTLCache[str, int] = field(default_factory=_known_totals)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those of the settings, counted at their broker if that is Redis."""
        amounts = {
            TOKENS: settings.tenant_summary_tokens_per_day,
            USD: ceil(settings.tenant_summary_usd_per_day * PARTS_OF_A_DOLLAR),
        }
        limits = {name: RateLimitItemPerDay(amount, namespace=name) for name, amount in amounts.items() if amount}
        return cls(limits, tuple(storages_at(settings.broker_url, ANSWER_SECONDS)) if limits else ())

    def spend(self, payer: str, usage: Mapping[str, int], prices: Prices | None) -> None:
        """Count what a call used. Dollars are counted where the prices are known."""
        cached = {name: usage.get(name, 0) for name in ("cache_read", "cache_write")}
        tokens, written = usage.get("input", 0), usage.get("output", 0)
        usd = prices.cost(tokens, written, **cached) if prices else None
        spent = {TOKENS: tokens + written, USD: round((usd or 0) * PARTS_OF_A_DOLLAR)}
        for name, limit in self.limits.items():
            if spent[name]:
                self._add(limit, payer, spent[name])

    def spent(self, payer: str) -> TenantLimited | None:
        """The event of a budget that is spent for today; None if there is none."""
        met = (name for name, limit in self.limits.items() if self._used(limit, payer) >= limit.amount)
        name = next(met, None)
        return None if name is None else TenantLimited(name)

    def _add(self, limit: RateLimitItemPerDay, payer: str, amount: int) -> None:
        key, seconds = limit.key_for(payer), limit.get_expiry()
        total = self._counted(lambda storage: storage.incr(key, seconds, amount))
        with self._lock:
            self._known[key] = total

    def _used(self, limit: RateLimitItemPerDay, payer: str) -> int:
        key = limit.key_for(payer)
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return known
        found = self._counted(lambda storage: storage.get(key))
        with self._lock:
            # A call that ended meanwhile has a newer total.
            return self._known.setdefault(key, found)

    def _counted(self, count: Callable[[Storage], int]) -> int:
        is_alone = monotonic() < self._again_at
        for storage in self.storages[-1:] if is_alone else self.storages:
            try:
                return count(storage)
            except StorageError as error:
                self._again_at = monotonic() + ALONE_SECONDS
                logger.warning("what summarizers use is counted in this process: %s", error)
        return 0


NO_BUDGETS: Final = Budgets({})
