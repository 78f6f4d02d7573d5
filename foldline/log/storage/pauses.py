"""Pauses that a tenant's large requests make at SQLite's one writer, so that the others hardly notice them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, NamedTuple

from foldline.active_tenants import ActiveTenants

# So many times as long as a tenant kept the writer, its large requests leave it to the others. Of an agent that writes
# all the time, fewer than one transaction in a hundred then waits for one of them.
PAUSE_PER_SECOND: Final = 150
SECONDS_MAX: Final = 4.0
# Small requests pause for less after a shorter turn, in proportion: they hold up nobody for long, and a tenant may have
# many agents. After the append of an agent's step, of one to five milliseconds as disks go, it is 5 to 125 ms.
LONG_SECONDS: Final = 0.03


class _Ends(NamedTuple):
    """When the pause of a tenant's large requests ends, and that of its small ones."""

    large: float = 0.0
    small: float = 0.0


@dataclass(slots=True)
class Pauses:
    """Who wrote lately, and until when each tenant's requests pause that another process answers.

    These are its large ones, and small ones while it takes more than its share. The service's own work has no tenant.
    Several threads use it: what it keeps is replaced, not changed.
    """

    now: Callable[[], float] = perf_counter
    _ends: Mapping[str, _Ends] = field(default_factory=dict)
    _writers: ActiveTenants = field(init=False)

    def __post_init__(self) -> None:
        self._writers = ActiveTenants(self.now)

    def begin(self, tenant: str) -> None:
        """A turn of a tenant begins."""
        if tenant:
            self._writers.note(tenant)

    def end_lent(self, tenant: str, seconds: float) -> None:
        """A turn of one of those requests of a tenant has ended, which took so long."""
        now = self.now()
        if tenant and self._writers.has_others(tenant):
            last = self._ends.get(tenant, _Ends())
            pause = seconds * PAUSE_PER_SECOND
            ends = _Ends(
                _later(last.large, now, pause), _later(last.small, now, pause * min(1.0, seconds / LONG_SECONDS))
            )
            going_on = {other: theirs for other, theirs in self._ends.items() if theirs.large > now}
            self._ends = {**going_on, tenant: ends}

    def of_large(self, tenant: str) -> float:
        """How many seconds a tenant's next large request has to wait: none if nobody else writes."""
        return self._left(tenant).large

    def of_small(self, tenant: str) -> float:
        """How many seconds a small one has to wait."""
        return self._left(tenant).small

    def _left(self, tenant: str) -> _Ends:
        if not self._writers.has_others(tenant):
            return _Ends()
        now, ends = self.now(), self._ends.get(tenant, _Ends())
        return _Ends(max(0.0, ends.large - now), max(0.0, ends.small - now))


def _later(end: float, now: float, pause: float) -> float:
    return min(now + SECONDS_MAX, max(now, end) + pause)
