"""The work that nobody waits for any more: while there is much of it, more would only wait as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from foldline_api.detached import Detached

# For so long a request waits for its view; then it goes on as it came.
PATIENCE_SECONDS: Final = 5.0
# For so long a request that was refused for its length waits for its first view; then the refusal is its answer.
LAST_PATIENCE_SECONDS: Final = 30.0
# With one, a single huge request would take the views of all others.
MOST_OVERDUE: Final = 3


class UnderWay:
    """What threads do for requests now, such as waiting for a database that is frozen; `tasks` wait for them."""

    def __init__(self) -> None:
        self._due: dict[object, tuple[str, float]] = {}
        self.tasks = Detached("foldline-gateway")

    @contextmanager
    def one(self, tenant: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
        """The work of one request, in the thread that does it; somebody waits for it for so long."""
        mark = object()
        self._due[mark] = (tenant, monotonic() + patience_seconds)
        try:
            yield
        finally:
            del self._due[mark]

    def is_stuck(self, tenant: str) -> bool:
        """Whether several of a tenant's requests have gone on without what is still being done for them."""
        now, begun = monotonic(), list(self._due.values())
        return sum(who == tenant and due < now for who, due in begun) >= MOST_OVERDUE
