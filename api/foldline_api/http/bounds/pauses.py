"""Pauses between a tenant's requests that another process answers, so that the other tenants hardly notice them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from foldline.active_tenants import ActiveTenants

# So many times as long as such a request took, the tenant leaves the database and the processors to the others. Of an
# agent that writes all the time, about one request in a hundred then meets one.
PAUSE_PER_SECOND: Final = 40
SECONDS_MAX: Final = 4.0
# Small requests pause for less after a shorter one, in proportion: they hold up nobody for long, and a tenant may have
# many agents. After the append of an agent's step, of three to ten milliseconds as disks go, it is 9 to 100 ms.
LONG_SECONDS: Final = 0.04


@dataclass(slots=True)
class Pauses:
    """Until when each tenant's requests pause: none does while no other tenant asks for anything.

    After a request of fewer than `long_seconds` they pause for less, in proportion. Used on the event loop alone.
    """

    active: ActiveTenants
    long_seconds: float = 0.0
    now: Callable[[], float] = perf_counter
    _ends: dict[str, float] = field(default_factory=dict)

    def note(self, tenant: str, seconds: float) -> None:
        """A request of a tenant took so long."""
        if not self.concern(tenant):
            return
        now = self.now()
        share = min(1.0, seconds / self.long_seconds) if self.long_seconds else 1.0
        end = max(now, self._ends.get(tenant, 0.0)) + seconds * PAUSE_PER_SECOND * share
        going_on = {other: until for other, until in self._ends.items() if until > now}
        self._ends = {**going_on, tenant: min(now + SECONDS_MAX, end)}

    def concern(self, tenant: str) -> bool:
        """Whether requests of a tenant may pause: another one is active."""
        return self.active.has_others(tenant)

    def left(self, tenant: str) -> float:
        """How many seconds a tenant's next request has to wait."""
        return max(0.0, self._ends.get(tenant, 0.0) - self.now()) if self.concern(tenant) else 0.0
