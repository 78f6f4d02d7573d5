"""Asking whether a part of the service answers, without waiting for one that keeps silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final, Generic, TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

# Kubernetes waits 1 s for the answer, unless it is told otherwise.
PATIENCE_SECONDS: Final = 0.8


class Check(Generic[T]):
    """Asks one part of the service: on a thread that requests do not use, and once at a time.

    Whoever comes while it is asked shares the answer. A part that keeps silent for longer than `PATIENCE_SECONDS` does
    not answer, to those who come later at once, until it does. All of it runs on one event loop.
    """

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[T] | None = None
        self._deadline = 0.0

    async def answer(self) -> T | None:
        """What it answers, None if it does not."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._asked(), name="foldline-check")
            self._deadline = monotonic() + PATIENCE_SECONDS
        done, _ = await asyncio.wait([self._task], timeout=max(0.0, self._deadline - monotonic()))
        return next((task.result() for task in done), None)

    async def _asked(self) -> T:
        # The service may stop while it waits for an answer.
        return await anyio.to_thread.run_sync(self._ask, abandon_on_cancel=True, limiter=self._limiter)
