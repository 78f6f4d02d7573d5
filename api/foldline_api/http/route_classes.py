"""The classes of routes: none of them lets one tenant take all threads.

The endpoints of some are called without FastAPI's resolution of parameters, where a request has none to resolve. Large
requests to them wait for a place, and on a shared service a process of its own does their work, and another one that of
small ones of tenants that take more than their share.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import Any, ClassVar, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from foldline.log.errors import OutcomeUnknown, Unavailable
from foldline_api.http.bounds.large_processes import LargeProcesses
from foldline_api.http.known_keys import Caller
from foldline_api.http.request import ApiRequest, read_request
from foldline_api.service import AppState

# A view that ignores the budget is as long as the session.
COSTLY_PARAMETERS: Final = frozenset({("fit", "none")})


class ThreadRoute(APIRoute):
    """A route whose endpoint takes a thread for a moment, unless it is a coroutine; no tenant takes all of these.

    A large body is worked on in a place for large requests.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        # A coroutine calls `in_thread` where it needs one.
        super().__init__(path, endpoint if iscoroutinefunction(endpoint) else _in_thread(endpoint), **more)


def _in_thread(endpoint: Callable[..., Response]) -> Callable[..., Awaitable[Response]]:
    """The endpoint as a coroutine: the request has its body before it takes a place."""

    @wraps(endpoint)
    async def endpoint_in_thread(**given: Any) -> Response:
        (incoming,) = (value for value in given.values() if isinstance(value, ApiRequest))
        return await incoming.with_body_in_thread(partial(endpoint, **given))

    return endpoint_in_thread


class DirectRoute(APIRoute):
    """A route of the two requests of each turn, whose parameters took a fifth of the time of a small answer.

    It is also for requests that may be large, by their body or, where the route `is_costly`, by what is done for them.
    Its endpoint is no coroutine. It takes the parameters of the path as text, `incoming`, and parameters of the query
    that have defaults.
    """

    is_costly: ClassVar[bool] = False
    # Whether its requests with a body change something.
    writes: ClassVar[bool] = True
    # The queries that need no resolution, and the arguments that they mean.
    plain_queries: ClassVar[Mapping[bytes, Mapping[str, Any]]] = {b"": {}}

    @staticmethod
    def at_once(incoming: ApiRequest, given: Mapping[str, Any]) -> Response | None:
        """The answer on the event loop, if it is known without any wait; `given` are the arguments of the query."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler: FastAPI's own where the request has a query.

        Raises:
            TypeError: the endpoint is a coroutine, or takes what would not be resolved.
        """
        resolving, endpoint = super().get_route_handler(), self.endpoint
        calls = [part.call for part in self.dependant.dependencies]
        takes = (self.dependant.header_params, self.dependant.cookie_params, self.dependant.body_params)
        if iscoroutinefunction(endpoint) or calls != [read_request] or any(takes):
            raise TypeError(self.path)

        needs_query = any(parameter.field_info.is_required() for parameter in self.dependant.query_params)
        plain_queries = {} if needs_query else self.plain_queries

        async def handle(request: Request) -> Response:
            # Separators alone name no parameter, and would be resolved as a query whose body is small.
            given = plain_queries.get(request.scope["query_string"].strip(b"&"))
            if given is None:
                return await self._resolved(request, resolving)
            incoming = await read_request(request)
            known = self.at_once(incoming, given)
            if known is not None:
                return known
            parameters = {**request.path_params, **given}
            if self.is_costly or incoming.service.places.is_large(incoming.pieces):
                return await self._large(request, parameters, incoming)
            return await self._small(request, parameters, incoming)

        return handle

    async def _small(self, request: Request, parameters: Mapping[str, Any], incoming: ApiRequest) -> Response:
        """The response to a small request: from a thread, unless its tenant takes more than its share of these."""
        work = partial(self.endpoint, **parameters, incoming=incoming)
        processes: LargeProcesses = request.app.state.small_processes
        places, tenant = incoming.service.places, incoming.tenant
        if not processes.take(request):
            return await incoming.in_thread(work)
        async with places.for_small(incoming.caller):
            # The tenant's others may have used its share while this one waited.
            if not places.shares.is_beyond(tenant):
                return await run_in_threadpool(places.shares.counted(tenant, work))
        async with places.beyond_shares.one(tenant, pauses=self.writes):
            await _check_awaited(request)
            pauses = places.beyond_shares.pauses if self.writes else None
            try:
                return await processes.answer(self.endpoint, parameters, incoming, pauses)
            except OutcomeUnknown:
                places.shares.rest()
                raise
            except Unavailable:
                # Nothing was begun there.
                places.shares.rest()
        return await incoming.in_thread(work)

    async def _large(self, request: Request, parameters: Mapping[str, Any], incoming: ApiRequest) -> Response:
        """The response to a large request, when it has a place."""
        processes: LargeProcesses = request.app.state.large_processes
        is_taken, places = processes.take(request), incoming.service.places.large
        async with places.one(incoming.tenant, pauses=is_taken and self.writes):
            await _check_awaited(request)
            if is_taken:
                pauses = places.pauses if self.writes else None
                return await processes.answer(self.endpoint, parameters, incoming, pauses)
            return await run_in_threadpool(partial(self.endpoint, **parameters, incoming=incoming))

    async def _resolved(self, request: Request, resolve: Callable[[Request], Awaitable[Response]]) -> Response:
        """The response to a request with a query, which has no body: only routes without one take parameters."""
        service: AppState = request.app.state.service
        caller: Caller = request.state.caller
        if not self.is_costly and COSTLY_PARAMETERS.isdisjoint(request.query_params.multi_items()):
            async with service.places.for_small(caller):
                return await resolve(request)
        async with service.places.large.one(caller.tenant):
            await _check_awaited(request)
            return await resolve(request)


class CostlyRoute(DirectRoute):
    """A route each of whose requests may take long, however small its body is."""

    is_costly = True


class ReadingRoute(DirectRoute):
    """A route that changes no session, whatever its method."""

    writes = False


class CostlyReadingRoute(ReadingRoute):
    """A route that changes no session, and each of whose requests may take long."""

    is_costly = True


async def _check_awaited(request: Request) -> None:
    """Check that the client has waited for the request's turn.

    Raises:
        ClientDisconnect: it has not.
    """
    if await request.is_disconnected():
        raise ClientDisconnect
