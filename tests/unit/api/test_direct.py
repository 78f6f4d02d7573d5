from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter, Header, Response
from foldline_api.http.direct import DirectRoute
from foldline_api.http.request import FromRequest


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
