"""Routes whose endpoints are called without FastAPI's resolution of parameters, where a request has none to resolve."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import iscoroutinefunction
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from foldline_api.http.request import read_request


class DirectRoute(APIRoute):
    """A route of the two requests of each turn, whose parameters took a fifth of the time of a small answer.

    Its endpoint is no coroutine. It takes the parameters of the path as text, `incoming`, and parameters of the query
    that have defaults.
    """

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

        async def handle(request: Request) -> Response:
            if request.scope["query_string"]:
                return await resolving(request)
            incoming = await read_request(request)
            response: Response = await run_in_threadpool(endpoint, **request.path_params, incoming=incoming)
            return response

        return handle
