"""A bare streaming proxy on httpx and Starlette: it passes each request on and its answer back, and does nothing else.

`python -m benchmarks.gateway.bare_proxy URL` serves on a free port of the loopback interface; requests go on to URL.
"""

from __future__ import annotations

import sys
from typing import Final

import httpx
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from benchmarks.bare_server import serve

ANSWER_SECONDS: Final = 60.0
_NOT_PASSED_ON: Final = frozenset({b"host", b"content-length", b"connection"})
_NOT_PASSED_BACK: Final = frozenset({b"transfer-encoding", b"connection"})


def create_app(url: str) -> Starlette:
    """The proxy."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    client = httpx.AsyncClient(timeout=ANSWER_SECONDS, limits=limits)

    async def pass_on(request: Request) -> StreamingResponse:
        headers = [(name, value) for name, value in request.headers.raw if name not in _NOT_PASSED_ON]
        body = await request.body()
        outgoing = client.build_request(request.method, url + request.url.path, headers=headers, content=body)
        answer = await client.send(outgoing, stream=True)
        back = StreamingResponse(answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose))
        back.raw_headers = [pair for pair in answer.headers.raw if pair[0].lower() not in _NOT_PASSED_BACK]
        return back

    return Starlette(routes=[Route("/{path:path}", pass_on, methods=["POST"])])


if __name__ == "__main__":
    serve(create_app(sys.argv[1]))
