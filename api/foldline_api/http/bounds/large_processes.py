"""Processes of their own for large requests, so that what those compute keeps nobody waiting in this process.

One thread of a process computes at a time. Beside a large request, each step of a small one waits for it. The same goes
for many small ones of a tenant, which have a process of theirs.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock, Thread
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeAlias

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers

from foldline.log.errors import OutcomeUnknown, Unavailable
from foldline.log.events import Event
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.engines.lent_turns import LentTurns, lending
from foldline.log.storage.turns import WRITING_FOR, OuterTurn, Turns
from foldline.service_process import BEGINNING, SPAWN, begin_part
from foldline_api.http.bounds.pauses import SECONDS_MAX, Pauses
from foldline_api.http.bounds.pieces import Pieces, received
from foldline_api.http.known_keys import Caller
from foldline_api.http.problems import PROBLEM_TYPES, problem
from foldline_api.http.request import WITH_BODY, ApiRequest
from foldline_api.service import AppState

logger = logging.getLogger(__name__)

# For what they are doing when the service stops, which has waited for its requests already.
END_SECONDS: Final = 3.0
PROCESS_NAME: Final = "foldline-large"

Endpoint: TypeAlias = Callable[..., Response]


@dataclass(slots=True)
class LargeProcess:
    """What such a process has open from its first order on; the events since its last order began, and its trace.

    `outer_turn` is a turn at the service's writer, if that is SQLite's. `body` reads an order's body by its number.
    """

    outer_turn: OuterTurn = nullcontext
    body: Callable[[int], Pieces] = lambda _number: Pieces()
    opened: ExitStack = field(default_factory=ExitStack)
    service: AppState | None = None
    events: list[Event] = field(default_factory=list)
    traceparent: str | None = None

    def service_for(self, order: _Order) -> AppState:
        """What the routes need. If it cannot be opened now, the next order tries again."""
        self.traceparent = order.traceparent
        self.events.clear()
        if self.service is None:
            self.service = self.opened.enter_context(order.open_service(self, order.file))
            self.service.store.subscribe(self.events.append)
        return self.service


# Opens what the routes need in such a process, on the file that the service has open, if its database is one.
OpenService: TypeAlias = Callable[[LargeProcess, KnownFile | None], AbstractContextManager[AppState]]


class _Order(NamedTuple):
    """A request, and what answers it. Its body comes on a way of its own, by its number, a piece at a time."""

    number: int
    open_service: OpenService
    file: KnownFile | None
    traceparent: str | None
    endpoint: Endpoint
    parameters: Mapping[str, Any]
    caller: Caller
    session_id: str
    route: str
    headers: list[tuple[bytes, bytes]]


class _Answered(NamedTuple):
    """An answer, the events of the transactions that it took, and for how many seconds the process was at it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    events: list[Event]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Pool:
    """An executor with one process, and the end of the pipe on which that process gets the bodies of its orders.

    `processes` has that process, unless it ended at once.
    """

    executor: ProcessPoolExecutor
    processes: Collection[BaseProcess]
    bodies: Connection
    sending: Lock = field(default_factory=Lock)

    def send(self, body: Pieces, number: int) -> None:
        """Begin to send the body of an order. If it cannot be sent, the process ends."""
        try:
            Thread(target=self._send, args=(body, number), name="foldline-body", daemon=True).start()
        except RuntimeError:
            self.bodies.close()

    def _send(self, body: Pieces, number: int) -> None:
        # An order may fail before its body is read; that body is still being sent.
        with self.sending:
            body.send(self.bodies, number)


class LargeProcesses:
    """At most so many processes, which start when the first large request comes; then that one waits two seconds.

    Only a service that is shared has others to protect. One without keys, and one with a `number` of 0, answers large
    requests in threads. Subscribers of the store get the events here, as if the work had been done here.
    """

    def __init__(self, open_service: OpenService | None, number: int, is_shared: Callable[[], bool]) -> None:
        self._open_service = open_service if number else None
        self._is_shared = is_shared
        self._places = CapacityLimiter(max(1, number))
        # Each has one process, so that one which is killed takes no other's request with it.
        self._pools: list[_Pool] = []
        self._idle: list[_Pool] = []
        self._numbers = count()

    def take(self, request: Request) -> bool:
        """Whether a request may go to one of them."""
        return self._open_service is not None and request.method in WITH_BODY and self._is_shared()

    async def answer(
        self, endpoint: Endpoint, parameters: Mapping[str, Any], incoming: ApiRequest, pauses: Pauses | None = None
    ) -> Response:
        """The endpoint's answer to a request, made in one of the processes. `pauses` note what it took.

        Raises:
            Unavailable: the process could not open the database, and has done nothing.
            OutcomeUnknown: the process was killed; what it was doing may be done.
        """
        if self._open_service is None:
            raise TypeError
        store = incoming.service.store
        of_request = incoming.caller, incoming.session_id, incoming.route, list(incoming.headers.raw)
        work = endpoint, parameters, *of_request
        order = _Order(next(self._numbers), self._open_service, store.file, store.traceparent, *work)
        place = object()
        await self._places.acquire_on_behalf_of(place)
        try:
            # Shielded: the process takes another request only after this work, also if the client is gone.
            begun = self._begun(order, incoming, place)
            if pauses is not None:
                begun.add_done_callback(partial(_note, pauses, incoming.tenant))
            done = await asyncio.shield(begun)
        except asyncio.CancelledError:
            # The work goes on, and the tenant's next request need not wait for its end.
            if pauses is not None:
                pauses.note(incoming.tenant, SECONDS_MAX)
            raise
        except BrokenProcessPool as error:
            message = "the process that did the work was killed"
            raise OutcomeUnknown(message) from error
        response = Response(done.body, done.status)
        response.raw_headers = done.headers
        return response

    def _begun(self, order: _Order, incoming: ApiRequest, place: object) -> asyncio.Future[_Answered]:
        """The work on an order; the place is free when it ends."""
        service = incoming.service
        try:
            pool, future = self._submitted(order, service.store.turns)
        except (OSError, RuntimeError) as error:
            self._places.release_on_behalf_of(place)
            message = f"the process for large requests could not be started: {error}"
            raise Unavailable(message) from error
        # Whether somebody still waits for the answer or not.
        future.add_done_callback(lambda ended: _publish(service, ended))
        work = asyncio.wrap_future(future)
        work.add_done_callback(lambda ended: self._take_back(pool, place, ended))
        pool.send(incoming.pieces, order.number)
        return work

    def _take_back(self, pool: _Pool, place: object, ended: asyncio.Future[_Answered]) -> None:
        self._places.release_on_behalf_of(place)
        if ended.cancelled() or not isinstance(ended.exception(), BrokenProcessPool):
            self._idle.append(pool)
        else:
            self._pools.remove(pool)

    async def close(self) -> None:
        """End them; what they are still doing is given up after a while."""
        if self._pools:
            with move_on_after(END_SECONDS):
                await to_thread.run_sync(self._shut_down, abandon_on_cancel=True)
            for process in chain.from_iterable(pool.processes for pool in self._pools):
                process.kill()

    def _shut_down(self) -> None:
        for pool in self._pools:
            pool.executor.shutdown(cancel_futures=True)

    def _submitted(self, order: _Order, turns: Turns | None) -> tuple[_Pool, Future[_Answered]]:
        while self._idle:
            pool = self._idle.pop()
            try:
                return pool, pool.executor.submit(_answer, order)
            except BrokenProcessPool:
                # It was killed while it had nothing to do.
                self._pools.remove(pool)
        its_bodies, bodies = multiprocessing.Pipe(duplex=False)
        with lending(turns) as its_turns, its_bodies, ExitStack() as failed:
            failed.callback(bodies.close)
            executor = ProcessPoolExecutor(1, SPAWN, _begin, (its_turns, its_bodies))
            with BEGINNING:
                others = {*multiprocessing.active_children()}
                # That starts the process.
                future = executor.submit(_answer, order)
                processes = {*multiprocessing.active_children()} - others
            failed.pop_all()
        pool = _Pool(executor, processes, bodies)
        self._pools.append(pool)
        return pool, future


def _note(pauses: Pauses, tenant: str, ended: asyncio.Future[_Answered]) -> None:
    if not ended.cancelled() and ended.exception() is None:
        pauses.note(tenant, ended.result().seconds)


def _publish(service: AppState, ended: Future[_Answered]) -> None:
    if not ended.cancelled() and ended.exception() is None:
        for event in ended.result().events:
            service.store.publish(event)


_process: Final = LargeProcess()


def _begin(turns: Connection, bodies: Connection) -> None:
    """Begin a process."""
    _process.outer_turn = LentTurns(turns).one
    _process.body = partial(received, bodies)
    begin_part(PROCESS_NAME)


def _body_of(order: _Order) -> Pieces:
    """Its body. Where it cannot be read, this process ends: nobody knows where the next one begins."""
    try:
        return _process.body(order.number)
    except BaseException:
        logger.exception("the body of a large request could not be read")
        os._exit(1)


def _answer(order: _Order) -> _Answered:
    pieces = _body_of(order)
    try:
        service = _process.service_for(order)
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing was begun
        message = f"the process for large requests could not begin: {error}"
        logger.warning("%s", message)
        raise Unavailable(message) from None
    WRITING_FOR.set(order.caller.tenant)
    headers = Headers(raw=order.headers)
    incoming = ApiRequest(service, order.caller, order.session_id, order.route, headers, pieces)
    # The process itself may have begun only now, which is no work of this tenant's.
    began = perf_counter()
    try:
        response = order.endpoint(**order.parameters, incoming=incoming)
    except Exception as error:
        if type(error) not in PROBLEM_TYPES:
            raise
        response = problem(error)
    body: Any = response.body
    events = list(_process.events)
    return _Answered(response.status_code, response.raw_headers, bytes(body), events, perf_counter() - began)
