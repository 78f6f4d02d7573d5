"""Pauses that a tenant's large requests make at SQLite's one writer, so that the others hardly notice them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from foldline.active_tenants import ActiveTenants

# So many times as long as a tenant kept the writer, its large requests leave it to the others. Of an agent that writes
# all the time, fewer than one transaction in a hundred then waits for one of them.
PAUSE_PER_SECOND: Final = 150
SECONDS_MAX: Final = 6.0
# What takes less holds up nobody for long, so it may come more often in proportion. After the append of an agent's
# step, of one to five milliseconds as disks go, the pause is 5 to 125 milliseconds.
LONG_SECONDS: Final = 0.03


@dataclass(slots=True)
class Pauses:
    """Who wrote lately, and until when each tenant's large requests pause. The service's own work has no tenant.

    Several threads use it: what it keeps is replaced, not changed.
    """

    now: Callable[[], float] = perf_counter
    _until: Mapping[str, float] = field(default_factory=dict)
    _writers: ActiveTenants = field(init=False)

    def __post_init__(self) -> None:
        self._writers = ActiveTenants(self.now)

    def begin(self, tenant: str) -> None:
        """A turn of a tenant begins."""
        if tenant:
            self._writers.note(tenant)

    def end_large(self, tenant: str, seconds: float) -> None:
        """A turn of one of a tenant's large requests has ended, which took so long."""
        now = self.now()
        if self._writers.has_others(tenant):
            pause = seconds * PAUSE_PER_SECOND * min(1.0, seconds / LONG_SECONDS)
            until = min(now + SECONDS_MAX, max(now, self._until.get(tenant, now)) + pause)
            going_on = {other: end for other, end in self._until.items() if end > now}
            self._until = {**going_on, tenant: until}

    def seconds_for(self, tenant: str) -> float:
        """How long a tenant's next large request has to wait: not at all if nobody else writes."""
        return max(0.0, self._until.get(tenant, 0.0) - self.now()) if self._writers.has_others(tenant) else 0.0
