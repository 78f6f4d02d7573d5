from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter, Header, Response
from foldline_api.http.request import FromRequest
from foldline_api.http.route_classes import DirectRoute, ThreadRoute
from foldline_api.routes import ROUTERS
from foldline_api.routes.service import health


async def coroutine(incoming: FromRequest) -> Response:
    return Response(incoming.raw)


def without_request() -> Response:
    return Response()


def with_a_header(incoming: FromRequest, accept: str = Header()) -> Response:
    return Response(incoming.raw, headers={"accept": accept})


@pytest.mark.parametrize("endpoint", [coroutine, without_request, with_a_header])
def test_an_endpoint_that_takes_what_is_not_resolved_is_refused(endpoint: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="/path"):
        APIRouter(route_class=DirectRoute).get("/path")(endpoint)


def test_no_route_lets_a_tenant_take_all_threads() -> None:
    routes = [route for router in ROUTERS if router is not health.router for route in router.routes]
    assert len(routes) > 40
    assert [route for route in routes if not isinstance(route, ThreadRoute | DirectRoute)] == []
