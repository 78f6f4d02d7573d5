"""Waits for jobs without holding a thread: one task reads the states of all watched jobs, in one query.

The task starts with the first waiter. It ends with the last waiter, or with the service.
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
# Proxies close a connection that is silent for a minute.
REPEAT_SECONDS: Final = 15.0


@dataclass(eq=False, slots=True)
class _Waiter:
    """A tenant's request that waits for a job.

    `seen` is the state it has; `latest` is the state delivered after that.
    """

    tenant: str
    seen: Job
    latest: Job | None = None
    is_delivered: asyncio.Event = field(default_factory=asyncio.Event)

    def deliver(self, job: Job | None) -> None:
        """Wake the request with a new state of the job; None says that no other state will come."""
        self.latest = job
        self.is_delivered.set()

    async def next(self, timeout_seconds: float) -> Job | None:
        """The next state of the job, or the last one again if nothing is delivered for so long."""
        with anyio.move_on_after(timeout_seconds):
            await self.is_delivered.wait()
        if not self.is_delivered.is_set():
            return self.seen
        self.is_delivered.clear()
        if self.latest is not None:
            self.seen = self.latest
        return self.latest


class Watch:
    """Watches jobs for requests that wait for them. It runs on one event loop; only `read_jobs` runs on a thread.

    Of the `waiters_max` requests that wait at the same time, one tenant has half.
    """

    def __init__(self, read_jobs: ReadJobs, waiters_max: int, repeat_seconds: float = REPEAT_SECONDS) -> None:
        self._read_jobs = read_jobs
        self._waiters_max = waiters_max
        self._repeat_seconds = repeat_seconds
        self._waiters: set[_Waiter] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def waiting(self) -> int:
        """How many requests wait now."""
        return len(self._waiters)

    def has_room(self, tenant: str) -> bool:
        """Whether another request of the tenant can wait now."""
        own = sum(waiter.tenant == tenant for waiter in self._waiters)
        has_room = own < max(1, self._waiters_max // 2) and len(self._waiters) < self._waiters_max
        return has_room and not self._is_stopping

    def check_room(self, tenant: str) -> None:
        """Check that another request of the tenant can wait now.

        Raises:
            TooManyWaiting: as many requests as allowed wait already.
        """
        if not self.has_room(tenant):
            raise TooManyWaiting(self._waiters_max)

    async def changes(self, tenant: str, job: Job) -> AsyncGenerator[Job]:
        """The job as given, then after each change and every `repeat_seconds`.

        The changes end when the job has ended or is gone, or when the service stops.

        Raises:
            TooManyWaiting: as many requests as allowed wait already.
        """
        yield job
        if job.has_ended:
            return
        async with self._waiting(tenant, job) as waiter:
            while (latest := await waiter.next(self._repeat_seconds)) is not None:
                yield latest
                if latest.has_ended:
                    return

    async def ended(self, tenant: str, job: Job, timeout_seconds: float) -> Job:
        """The job once it has ended, or as it is after `timeout_seconds`; at once if no other request can wait."""
        if job.has_ended or not self.has_room(tenant):
            return job
        async with self._waiting(tenant, job) as waiter:
            with anyio.move_on_after(timeout_seconds):
                while (latest := await waiter.next(self._repeat_seconds)) is not None and not latest.has_ended:
                    pass
            return waiter.seen

    def stop(self) -> None:
        """End all waiting. Call it on the event loop's own thread."""
        self._is_stopping = True
        for waiter in self._waiters:
            waiter.deliver(None)

    async def close(self) -> None:
        """Stop, and wait until the task has ended."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task])

    @asynccontextmanager
    async def _waiting(self, tenant: str, job: Job) -> AsyncIterator[_Waiter]:
        self.check_room(tenant)
        waiter = _Waiter(tenant, job)
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
                await self._read_states(limiter)
                await asyncio.sleep(POLL_SECONDS)
        finally:
            # Whatever ended the task, no request may keep waiting for it.
            for waiter in self._waiters:
                waiter.deliver(None)

    async def _read_states(self, limiter: anyio.CapacityLimiter) -> None:
        watched = {waiter.seen.id for waiter in self._waiters}
        try:
            found = await anyio.to_thread.run_sync(self._read_jobs, watched, limiter=limiter)
        except Unavailable:
            # The next poll tries again.
            return
        for waiter in self._waiters:
            job = found.get(waiter.seen.id)
            # Jobs that were added during the query are read by the next one.
            if waiter.seen.id in watched and job != waiter.seen:
                waiter.deliver(job)
