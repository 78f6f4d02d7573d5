"""Pauses that a tenant's large requests make at SQLite's one writer, so that the others hardly notice them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

# So many times as long as a tenant kept the writer, its large requests leave it to the others: then few of the others'
# transactions, and fewer than one in a hundred of an agent that writes all the time, wait for one of them.
TIMES: Final = 50
SECONDS_MAX: Final = 4.0
# Who wrote so long ago hardly needs the writer now.
ACTIVE_SECONDS: Final = 1.0


@dataclass(slots=True)
class Pauses:
    """Who wrote lately, and until when each tenant's large requests pause. The service's own work has no tenant."""

    now: Callable[[], float] = perf_counter
    # Of the two that wrote last, when.
    _wrote: dict[str, float] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)

    def begin(self, tenant: str) -> None:
        """A turn of a tenant begins."""
        if tenant:
            self._wrote.pop(tenant, None)
            self._wrote[tenant] = self.now()
            if len(self._wrote) > 2:  # noqa: PLR2004 - see `_wrote`
                del self._wrote[next(iter(self._wrote))]

    def end_large(self, tenant: str, seconds: float) -> None:
        """A turn of one of a tenant's large requests has ended, which took so long."""
        now = self.now()
        self._until = {other: until for other, until in self._until.items() if until > now}
        if self._others_write(tenant):
            self._until[tenant] = min(now + SECONDS_MAX, self._until.get(tenant, now) + seconds * TIMES)

    def seconds(self, tenant: str) -> float:
        """How long a tenant's next large request has to wait: not at all if nobody else writes."""
        return max(0.0, self._until.get(tenant, 0.0) - self.now()) if self._others_write(tenant) else 0.0

    def _others_write(self, tenant: str) -> bool:
        oldest = self.now() - ACTIVE_SECONDS
        return any(other != tenant and at > oldest for other, at in self._wrote.items())
