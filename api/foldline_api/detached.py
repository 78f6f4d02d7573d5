"""Work that goes on if nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Detached:
    """Tasks that run until they end; an event loop alone would forget them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()

    def started(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The work as a task."""
        task = asyncio.create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    async def ended(self, seconds: float) -> None:
        """Wait for all of it, but not for longer."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever waited has it, and nobody else wants to hear of it.
            task.exception()
