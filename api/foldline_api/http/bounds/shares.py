"""The tenants' shares of this process: who takes more than its own, while others ask for something, is noticed.

One thread of a process computes at a time. Sixteen callers of one tenant keep it busy, however little each asks for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fastapi.concurrency import run_in_threadpool

from foldline.active_tenants import ActiveTenants
from foldline_api.http.bounds.shared_counts import Limit

if TYPE_CHECKING:
    from foldline_api.http.bounds.counters import LimitCounter

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A quarter of a processor. An agent that appends a message and reads a view takes five milliseconds for each turn.
SHARE: Final = Limit("microseconds of small requests", 250_000, 1)
# When this is over, a tenant that still asks for so much has used its share again within a second: for others that is
# fewer than one request in a hundred.
BEYOND_SECONDS: Final = 60.0


class Shares:
    """What each tenant's small requests take, in time of a processor in threads of this process."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._counter: LimitCounter | None = None
        self._beyond_until: dict[str, float] = {}
        self.active = ActiveTenants(now)

    async def in_thread(self, tenant: str, work: Callable[..., T], *given: Any) -> T:
        """What `work` returns, done in a thread; what it takes is counted for the tenant."""
        used = _Used()
        try:
            return await run_in_threadpool(used.by, work, *given)
        finally:
            await self._spend(tenant, used.microseconds)

    def is_beyond(self, tenant: str) -> bool:
        """Whether a tenant took more than its share within the last minute, and others ask for something, too."""
        if self._beyond_until.get(tenant, 0.0) > self._now():
            return self.active.has_others(tenant)
        self._beyond_until.pop(tenant, None)
        return False

    async def _spend(self, tenant: str, amount: int) -> None:
        if self._counter is None:
            # A service without keys needs none of what this loads.
            counters = import_module("foldline_api.http.bounds.counters")
            self._counter = counters.in_process()
        if await self._counter.spend(SHARE, tenant, amount) and self.active.has_others(tenant):
            if not self.is_beyond(tenant):
                logger.info("tenant %s takes more than its share; others' requests come first for a minute", tenant)
            self._beyond_until[tenant] = self._now() + BEYOND_SECONDS


class _Used:
    """The time of a processor that a thread takes for a piece of work."""

    microseconds = 0

    def by(self, work: Callable[..., T], *given: Any) -> T:
        began = thread_time()
        try:
            return work(*given)
        finally:
            self.microseconds = int((thread_time() - began) * 1_000_000)
