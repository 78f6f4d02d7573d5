"""Processes of their own for large requests, so that what those compute keeps nobody waiting in this process.

One thread of a process computes at a time. Beside a large request, each step of a small one waits for it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from multiprocessing.connection import wait
from threading import Lock, Thread
from typing import Any, Final, NamedTuple, TypeAlias

from anyio import to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers

from foldline.log.errors import OutcomeUnknown
from foldline.log.events import Event
from foldline_api.http.known_keys import Caller
from foldline_api.http.problems import PROBLEM_TYPES, problem
from foldline_api.http.request import WITH_BODY, ApiRequest
from foldline_api.service import AppState

# What is left of a processor is enough for them: the small requests come first.
NICENESS: Final = 10

Endpoint: TypeAlias = Callable[..., Response]
# Opens what the routes need, in a new process; it stays open until that ends.
OpenService: TypeAlias = Callable[[], AbstractContextManager[AppState]]


class _Order(NamedTuple):
    """A request, and what answers it."""

    endpoint: Endpoint
    path_params: Mapping[str, str]
    caller: Caller
    session_id: str
    route: str
    headers: list[tuple[bytes, bytes]]
    raw: bytes


class _Done(NamedTuple):
    """An answer, and the events of the transactions that it took."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    events: list[Event]


class LargeProcesses:
    """At most so many processes, which start when the first large request comes; then that one waits two seconds.

    Only a service that is shared has others to protect. One without keys, and one with a `number` of 0, answers large
    requests in threads. Subscribers of the store get the events here, as if the work had been done here.
    """

    def __init__(self, open_service: OpenService | None, number: int, is_shared: Callable[[], bool]) -> None:
        self._begin = None if open_service is None else partial(_begin, open_service)
        self._number = number
        self._is_shared = is_shared
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()

    def take(self, request: Request) -> bool:
        """Whether a large request goes to one of them."""
        return self._begin is not None and self._number > 0 and request.method in WITH_BODY and self._is_shared()

    async def answer(self, endpoint: Endpoint, request: Request, incoming: ApiRequest) -> Response:
        """The endpoint's answer to a request, made in one of the processes.

        Raises:
            OutcomeUnknown: the process was killed; what it was doing may be done.
        """
        of_request = incoming.caller, incoming.session_id, incoming.route, list(incoming.headers.raw), incoming.raw
        pool = self._started()
        try:
            future = pool.submit(_answer, _Order(endpoint, request.path_params, *of_request))
            # Whether somebody still waits for the answer or not.
            future.add_done_callback(lambda ended: _publish(incoming.service, ended))
            done = await asyncio.wrap_future(future)
        except BrokenProcessPool as error:
            self._leave(pool)
            message = "the process that did the work was killed"
            raise OutcomeUnknown(message) from error
        response = Response(done.body, done.status)
        response.raw_headers = done.headers
        return response

    async def close(self) -> None:
        """End them, after what they are doing."""
        if self._pool is not None:
            await to_thread.run_sync(lambda pool: pool.shutdown(cancel_futures=True), self._pool)

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                # New interpreters: a fork would copy locks that other threads hold.
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self._number, spawn, self._begin)
            return self._pool

    def _leave(self, pool: ProcessPoolExecutor) -> None:
        """Use a broken pool no more."""
        with self._lock:
            if self._pool is pool:
                self._pool = None


def _publish(service: AppState, ended: Future[_Done]) -> None:
    if not ended.cancelled() and ended.exception() is None:
        for event in ended.result().events:
            service.store.publish(event)


# What the process of a large request has open, and the events since its last answer.
_open: Final = ExitStack()
_services: Final[list[AppState]] = []
_events: Final[list[Event]] = []


def _begin(open_service: OpenService) -> None:
    """Begin a process: it leaves signals from the terminal to the service, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(NICENESS)
    Thread(target=_end_with_service, name="foldline-parent", daemon=True).start()
    service = _open.enter_context(open_service())
    service.store.subscribe(_events.append)
    _services.append(service)


def _end_with_service() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(order: _Order) -> _Done:
    (service,) = _services
    _events.clear()
    headers = Headers(raw=order.headers)
    incoming = ApiRequest(service, order.caller, order.session_id, order.route, headers, order.raw)
    try:
        response = order.endpoint(**order.path_params, incoming=incoming)
    except Exception as error:
        if type(error) not in PROBLEM_TYPES:
            raise
        response = problem(error)
    body: Any = response.body
    return _Done(response.status_code, response.raw_headers, bytes(body), list(_events))
