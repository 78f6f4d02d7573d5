"""Whether a tenant is alone: one that is may take all there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final

# Between two of its requests an agent waits for its model and its tools. Who asked before that is at rest.
ACTIVE_SECONDS: Final = 60.0


@dataclass(slots=True)
class ActiveTenants:
    """Which two tenants asked for something last, and when. Several threads use it: what it keeps is replaced."""

    now: Callable[[], float] = perf_counter
    _last: tuple[tuple[str, float], ...] = ()

    def note(self, tenant: str) -> None:
        """A tenant asks for something."""
        others = [last for last in self._last if last[0] != tenant]
        self._last = ((tenant, self.now()), *others[:1])

    def has_others(self, tenant: str) -> bool:
        """Whether another tenant asked for something lately."""
        since = self.now() - ACTIVE_SECONDS
        return any(other != tenant and asked > since for other, asked in self._last)
