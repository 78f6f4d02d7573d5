"""The worker's thread pool: daemon threads with the worker's app as their current one.

Celery's own thread pool differs in three ways that matter. Its threads look up a task in the process-wide default app,
so a second app's worker in one process takes messages and never runs them. The process cannot exit before its threads
end, and a summary may take minutes. And an error outside a task's body is not logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from celery.concurrency.base import BasePool, apply_target

from foldline.telemetry.logs import Contained, describe

logger = logging.getLogger(__name__)

# Threads beyond the slots for summaries, so that sweeps and notifications are handled while every slot is taken.
SPARE_THREADS: Final = 1


class AppThreads(BasePool):
    """A Celery pool of `limit` threads and a spare one, with the worker's app as their current one."""

    # Stopping waits for threads, which a signal handler may not.
    signal_safe = False
    # Message bodies stay in this process, so they need no copy.
    body_can_be_buffer = True

    def on_start(self) -> None:
        self._work: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        names = (f"foldline-summary-{number}" for number in range(self.limit + SPARE_THREADS))
        self._threads = [Thread(target=self._run, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    def on_apply(
        self,
        target: Any = None,
        args: Any = (),
        kwargs: Any = None,
        callback: Any = None,
        accept_callback: Any = None,
        **_: Any,
    ) -> None:
        self._work.put(partial(apply_target, target, args, kwargs, callback, accept_callback))

    def on_stop(self) -> None:
        """Wait for the threads; the caller that stops the worker bounds the time."""
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        self.app.set_current()
        while task := self._work.get():
            # A broken message must not end a thread.
            with Contained(lambda error: logger.error("message not run: %s", describe(error))):
                task()
