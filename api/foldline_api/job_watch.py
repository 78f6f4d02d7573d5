"""Waiting for jobs without holding a thread: one task reads the states of all watched jobs, in one query.

The task runs only while somebody waits. It starts with the first waiter and ends with the last, or with the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread

from foldline.log.errors import Unavailable
from foldline.log.jobs.queries import Job
from foldline_api.http.problems import TooManyWaiting

ReadJobs = Callable[[Collection[str]], Mapping[str, Job]]

POLL_SECONDS: Final = 0.05
# Proxies close connections on which nothing comes for a minute.
REPEAT_SECONDS: Final = 15.0
WAITERS_MAX: Final = 1000


@dataclass(eq=False, slots=True)
class _Waiter:
    """Somebody who waits for news of a job; `seen` is what was told last, `news` what was read after it."""

    seen: Job
    news: Job | None = None
    has_news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, news: Job | None) -> None:
        """Wake who waits; None says that nothing more will come."""
        self.news = news
        self.has_news.set()

    async def next(self, patience_seconds: float) -> Job | None:
        """The next thing that was told, or once more the last one if nothing was for so long."""
        with anyio.move_on_after(patience_seconds):
            await self.has_news.wait()
        if not self.has_news.is_set():
            return self.seen
        self.has_news.clear()
        if self.news is not None:
            self.seen = self.news
        return self.news


class Watch:
    """Watches jobs for those who wait for them. All of it runs on one event loop; only `read_jobs` runs on a thread."""

    def __init__(
        self, read_jobs: ReadJobs, waiters_max: int = WAITERS_MAX, repeat_seconds: float = REPEAT_SECONDS
    ) -> None:
        self._read_jobs = read_jobs
        self._waiters_max = waiters_max
        self._repeat_seconds = repeat_seconds
        self._waiters: set[_Waiter] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._waiters)

    @property
    def is_full(self) -> bool:
        """Whether nobody else can wait now."""
        return self._is_stopping or len(self._waiters) >= self._waiters_max

    async def changes(self, job: Job) -> AsyncGenerator[Job]:
        """The job as given, anew at each change and now and then, until it has ended, is gone, or the service stops.

        Raises:
            TooManyWaiting: as many as allowed wait already.
        """
        yield job
        if job.has_ended:
            return
        async with self._waiting(job) as waiter:
            while (news := await waiter.next(self._repeat_seconds)) is not None:
                yield news
                if news.has_ended:
                    return

    async def ended(self, job: Job, timeout_seconds: float) -> Job:
        """The job once it has ended, or as it is when time is up, or when nobody else can wait."""
        if job.has_ended or self.is_full:
            return job
        async with self._waiting(job) as waiter:
            with anyio.move_on_after(timeout_seconds):
                while (news := await waiter.next(self._repeat_seconds)) is not None and not news.has_ended:
                    pass
            return waiter.seen

    def stop(self) -> None:
        """Tell all waiters that nothing more will come; for the event loop's own thread."""
        self._is_stopping = True
        for waiter in self._waiters:
            waiter.tell(None)

    async def close(self) -> None:
        """`stop`, and wait until the task has ended."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task])

    @asynccontextmanager
    async def _waiting(self, job: Job) -> AsyncIterator[_Waiter]:
        if self.is_full:
            raise TooManyWaiting
        waiter = _Waiter(job)
        self._waiters.add(waiter)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll(), name="foldline-watch")
        try:
            yield waiter
        finally:
            self._waiters.discard(waiter)

    async def _poll(self) -> None:
        # The requests' own threads may all be busy; the watch has one of its own.
        limiter = anyio.CapacityLimiter(1)
        try:
            while self._waiters and not self._is_stopping:
                await self._look(limiter)
                await asyncio.sleep(POLL_SECONDS)
        finally:
            # Whatever ended this, nobody may be left waiting for it.
            for waiter in self._waiters:
                waiter.tell(None)

    async def _look(self, limiter: anyio.CapacityLimiter) -> None:
        asked = {waiter.seen.id for waiter in self._waiters}
        try:
            found = await anyio.to_thread.run_sync(self._read_jobs, asked, limiter=limiter)
        except Unavailable:
            # The database will be back, or those who wait will give up.
            return
        for waiter in self._waiters:
            news = found.get(waiter.seen.id)
            # Who came while the database was asked is told next time.
            if waiter.seen.id in asked and news != waiter.seen:
                waiter.tell(news)
