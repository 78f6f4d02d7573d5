"""The work that nobody waits for any more: while there is much of it, more would only wait as well."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final, TypeVar

T = TypeVar("T")

# For so long a request waits for its view; then it goes on as it came.
PATIENCE_SECONDS: Final = 5.0
# With one, a single huge request would take the views of all others.
MOST_OVERDUE: Final = 3


class UnderWay:
    """What threads do for requests now, such as waiting for a database that is frozen."""

    def __init__(self) -> None:
        self._begun: dict[object, tuple[str, float]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @contextmanager
    def one(self, tenant: str) -> Iterator[None]:
        """The work of one request, in the thread that does it."""
        mark = object()
        self._begun[mark] = (tenant, monotonic())
        try:
            yield
        finally:
            del self._begun[mark]

    def started(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The work as a task, which goes on if nobody waits for it any more."""
        task = asyncio.create_task(work, name="foldline-gateway")
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever waited has it.
            task.exception()

    def is_stuck(self, tenant: str) -> bool:
        """Whether several of a tenant's requests have gone on without what is still being done for them."""
        overdue = monotonic() - PATIENCE_SECONDS
        begun = list(self._begun.values())
        return sum(who == tenant and when < overdue for who, when in begun) >= MOST_OVERDUE
