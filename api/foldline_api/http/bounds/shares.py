"""The tenants' shares of this process: who takes more than its own, while others ask for something, is noticed.

One thread of a process computes at a time. Sixteen callers of one tenant keep it busy, however little each asks for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic, thread_time
from typing import Final, NamedTuple, TypeVar

from foldline.active_tenants import ActiveTenants

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A quarter of a processor. An agent that appends a message takes two milliseconds for each turn.
SHARE_SECONDS: Final = 0.25
WINDOW_SECONDS: Final = 1.0
# When this is over, a tenant that still asks for so much has used its share again within a second: for others that is
# fewer than one request in a hundred.
BEYOND_SECONDS: Final = 60.0


class _Used(NamedTuple):
    """What a tenant used since a window began, in all and by the request that took most of it."""

    began: float
    seconds: float = 0.0
    longest: float = 0.0


class Shares:
    """What the tenants' small requests take in threads of this process, in time of a processor.

    Only what another process could do counts, and of each second not the longest request: one that takes long, as the
    first after a start may, is no flood. The threads count it themselves.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._used: dict[str, _Used] = {}
        self._beyond_until: dict[str, float] = {}
        self._resting_until = 0.0
        self.active = ActiveTenants(now)

    def counted(self, tenant: str, work: Callable[[], T]) -> Callable[[], T]:
        """The work, which counts for the tenant what it takes of the thread that does it."""

        def counting() -> T:
            began = thread_time()
            try:
                return work()
            finally:
                self._spend(tenant, thread_time() - began)

        return counting

    def is_beyond(self, tenant: str) -> bool:
        """Whether a tenant took more than its share within the last minute, and others ask for something, too."""
        now = self._now()
        is_marked = self._beyond_until.get(tenant, 0.0) > now >= self._resting_until
        return is_marked and self.active.has_others(tenant)

    def rest(self) -> None:
        """Nobody is beyond a share for a minute: what would answer then does not work."""
        self._resting_until = self._now() + BEYOND_SECONDS

    def _spend(self, tenant: str, seconds: float) -> None:
        with self._lock:
            now = self._now()
            last = self._used.get(tenant)
            if last is None or last.began + WINDOW_SECONDS <= now:
                self._used = {name: used for name, used in self._used.items() if used.began + WINDOW_SECONDS > now}
                last = _Used(now)
            used = _Used(last.began, last.seconds + seconds, max(last.longest, seconds))
            self._used[tenant] = used
            if used.seconds - used.longest >= SHARE_SECONDS and self.active.has_others(tenant):
                self._mark(tenant, now)

    def _mark(self, tenant: str, now: float) -> None:
        going_on = {name: until for name, until in self._beyond_until.items() if until > now}
        if tenant not in going_on:
            logger.info("tenant %s takes more than its share; others' requests come first for a minute", tenant)
        self._beyond_until = {**going_on, tenant: now + BEYOND_SECONDS}
