"""Calls of foreign code with a time-out, each on a thread of its own. Which code is called is not known here."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Lock, Thread
from typing import Final, TypeVar

from foldline.telemetry.logs import Contained, describe
from foldline_worker.cancellation import Cancellation

T = TypeVar("T")

# A Python thread cannot be killed, so one that hangs is abandoned; this is the most for each hook.
MOST_ABANDONED: Final = 8
TOO_SLOW: Final = "it did not answer within {:g} s"
STILL_HANGING: Final = "it was not called: {} earlier calls still hang"


class CallFailed(Exception):
    """A call gave no valid answer; `reason` quotes no conversation."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class HookCalls:
    """The calls of one hook; may be used from any thread."""

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._abandoned: list[Thread] = []
        self._lock = Lock()

    def call(self, work: Callable[[], T], cancellation: Cancellation) -> T:
        """The result of `work`.

        Raises:
            Cancelled: the summary was cancelled; the call is abandoned.
            CallFailed: it raised, or took too long, or too many earlier calls still hang.
        """
        self._check_abandoned()
        future: Future[T] = Future()
        woken = Event()
        future.add_done_callback(lambda _: woken.set())
        thread = Thread(target=_run, args=(future, work), name="foldline-hook", daemon=True)
        with cancellation.ending(woken.set):
            # If no thread can be started, the call has failed.
            _answer(thread.start)
            woken.wait(self._timeout_seconds)
        if not future.done():
            with self._lock:
                self._abandoned.append(thread)
            cancellation.check()
            raise CallFailed(TOO_SLOW.format(self._timeout_seconds))
        cancellation.check()
        return future.result()

    def _check_abandoned(self) -> None:
        with self._lock:
            self._abandoned = [thread for thread in self._abandoned if thread.is_alive()]
            if len(self._abandoned) >= MOST_ABANDONED:
                raise CallFailed(STILL_HANGING.format(len(self._abandoned)))


def _run(future: Future[T], work: Callable[[], T]) -> None:
    with Contained(future.set_exception):
        future.set_result(_answer(work))


def _answer(work: Callable[[], T]) -> T:
    try:
        return work()
    except CallFailed:
        raise
    # Not only an `Exception`: code that ends its thread must not leave the caller waiting, or print a conversation.
    except BaseException as error:
        raise CallFailed(describe(error)) from error
