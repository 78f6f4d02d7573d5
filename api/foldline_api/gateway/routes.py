"""The gateway's routes: a request whose conversation is understood goes on with a view, any other as it came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

import anyio
import httpx
from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from foldline.engine.gateway.dialects import DIALECTS, Dialect
from foldline.log.access.api_keys import is_key
from foldline_api.gateway.forwarding import (
    Forwarded,
    Gateway,
    GatewayRequest,
    ProviderRefusal,
    forwarded,
    forwarded_again,
)
from foldline_api.gateway.hearing import Hearing
from foldline_api.gateway.late_refusals import LateRefusals, Second, may_be_refused_late
from foldline_api.gateway.recalling import Recalling
from foldline_api.gateway.refusals import PREFIXES, error_like, refusal, upstream_of
from foldline_api.gateway.upstream import Headers, Outgoing, UpstreamFailed, passing, read_whole, streaming, whole
from foldline_api.http.auth import KEY_HEADER
from foldline_api.http.known_keys import LOCAL
from foldline_api.http.problems import BodiesFull, BodyTooLarge, BodyTooSlow, Forbidden
from foldline_api.http.request import read_body
from foldline_api.http.scopes import OF_GATEWAY, require

METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
REFUSAL_CHARS: Final = 1 << 16
# The encodings that httpx decodes by itself.
READABLE: Final = frozenset({b"gzip", b"deflate", b"identity"})
# What the caller gets as an error of the provider's kind.
REFUSED: Final = (UpstreamFailed, BodyTooLarge, BodyTooSlow, BodiesFull)
Found = TypeVar("Found")
# The last is that of text-generation-inference, and of those who run it.
_TOO_LONG: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
)


class GatewayRoute(Route):
    """A route that log lines, metrics and traces name, as they do FastAPI's own."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, {**found, "route": self}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            require(scope["state"]["caller"], OF_GATEWAY)
        except Forbidden as error:
            await refusal(scope, error)(scope, receive, send)
        else:
            await super().handle(scope, receive, send)


def install(app: FastAPI, gateway: Gateway) -> None:
    """Add the gateway's routes."""

    def add(path: str, handle: Callable[[Request], Awaitable[Response]], methods: list[str]) -> None:
        app.routes.append(GatewayRoute(path, handle, methods=methods, include_in_schema=False))

    for dialect in DIALECTS:
        for prefix in ("", *(prefix for prefix, name in PREFIXES.items() if name == dialect.upstream)):
            handle = partial(_converse, gateway, dialect, dialect.path)
            add(prefix + dialect.path, handle, ["POST"])
    for prefix, name in PREFIXES.items():
        add(prefix + "/{rest:path}", partial(_pass, gateway, name), METHODS)
    for path in ("/v1/messages/count_tokens", "/v1/models", "/v1/responses/compact"):
        add(path, partial(_pass_by_headers, gateway), METHODS)


async def _converse(gateway: Gateway, dialect: Dialect, path: str, request: Request) -> Response:
    """A request with a conversation."""
    try:
        pieces = await read_body(request, gateway.settings.max_body_bytes)
        call = GatewayRequest(dialect.upstream, path, request, pieces)
        return await _tried(gateway, call, await forwarded(gateway, dialect, call))
    except REFUSED as error:
        return error_like(dialect.upstream, error)


async def _tried(gateway: Gateway, call: GatewayRequest, sent: Forwarded) -> Response:
    """The answer to what is sent, or, if that is refused, to what is sent after it.

    Raises:
        UpstreamFailed: there is none.
    """
    answer = await _sent(gateway, call, sent.body, is_read=sent.asked is not None)
    is_of_template = sent.is_changed and answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    if sent.asked is not None and (is_of_template or answer.status_code in _TOO_LONG):
        return await _refused(gateway, call, sent, answer)
    return await _answered(gateway, call, sent, answer)


async def _answered(gateway: Gateway, call: GatewayRequest, sent: Forwarded, answer: httpx.Response) -> Response:
    """The answer as it comes; what it says is kept. Where recall is offered, the answer that does not call it.

    Raises:
        UpstreamFailed: the answer broke off before any of it was passed on.
    """
    tenant, asked, turn, offered = call.tenant, sent.asked, sent.turn, sent.offered
    if asked is None or not answer.is_success:
        return passing(answer, sent.headers)
    if turn is not None and offered is not None:
        send, read = partial(_sent, gateway, call), partial(_read, gateway, call)
        return await Recalling(gateway, tenant, sent, asked, turn, offered, send, read).answered(answer)
    hearing = Hearing(gateway, tenant, sent, answer)
    if may_be_refused_late(answer):
        late = LateRefusals(answer, hearing, partial(_second, gateway, call, sent))
        return streaming(answer, sent.headers, late.chunks(), late.keep)
    return passing(answer, sent.headers, hearing if turn else None)


async def _second(gateway: Gateway, call: GatewayRequest, sent: Forwarded, failure: str) -> Second | None:
    """The answer to what is sent after a failure in a stream that began well; None if there is none, or a refusal.

    If the caller leaves before, this is cancelled with the stream.
    """
    again = await forwarded_again(gateway, call, sent, ProviderRefusal(HTTPStatus.OK, failure))
    if again is None:
        return None
    try:
        answer = await gateway.upstreams.send(_outgoing(call, again.body))
    except UpstreamFailed:
        return None
    if answer.is_success:
        return Second(answer, Hearing(gateway, call.tenant, again, answer))
    await answer.aclose()
    return None


async def _pass_by_headers(gateway: Gateway, request: Request) -> Response:
    """Any other request to a path that both providers may have."""
    return await _pass(gateway, upstream_of(request.url.path, request.headers), request)


async def _pass(gateway: Gateway, upstream: str, request: Request) -> Response:
    """Any other request, which goes on as it came."""
    raw_path: str = request.scope.get("raw_path", b"").decode("ascii") or request.url.path
    prefix = next((prefix for prefix in PREFIXES if raw_path.startswith(prefix + "/")), "")
    try:
        pieces = await read_body(request, gateway.settings.max_body_bytes)
        call = GatewayRequest(upstream, raw_path.removeprefix(prefix), request, pieces)
        answer = await _sent(gateway, call, call.raw, is_read=False)
        return passing(answer, {})
    except REFUSED as error:
        return error_like(upstream, error)


async def _sent(gateway: Gateway, call: GatewayRequest, body: bytes, *, is_read: bool = True) -> httpx.Response:
    """The beginning of the provider's answer. If the caller leaves before, nobody waits for it.

    `is_read` says whether Foldline reads the answer, too: then it asks for encodings that it can decode.

    Raises:
        UpstreamFailed: there is none.
        ClientDisconnect: the caller left.
    """
    outgoing = _outgoing(call, body, is_read=is_read)
    return await _while_awaited(call.request, partial(gateway.upstreams.send, outgoing))


def _outgoing(call: GatewayRequest, body: bytes, *, is_read: bool = True) -> Outgoing:
    request = call.request
    query: bytes = request.scope["query_string"]
    headers = _with_readable_encodings(_headers(request)) if is_read else _headers(request)
    return Outgoing(call.upstream, request.method, call.path, query, headers, body)


async def _read(gateway: Gateway, call: GatewayRequest, answer: httpx.Response) -> bytes:
    """All bytes of the provider's answer. If the caller leaves before, nobody waits for them.

    Raises:
        UpstreamFailed: it broke off, or is too large.
        ClientDisconnect: the caller left.
    """
    return await _while_awaited(call.request, partial(read_whole, answer, gateway.settings.max_body_bytes))


async def _while_awaited(request: Request, work: Callable[[], Awaitable[Found]]) -> Found:
    """What the work gives, unless the caller leaves before.

    Raises:
        UpstreamFailed: as the work.
        ClientDisconnect: the caller left.
    """
    found: list[Found | UpstreamFailed] = []
    async with anyio.create_task_group() as group:

        async def do() -> None:
            try:
                found.append(await work())
            except UpstreamFailed as error:
                found.append(error)
            group.cancel_scope.cancel()

        group.start_soon(do)
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()
    if not found:
        raise ClientDisconnect
    (outcome,) = found
    if isinstance(outcome, UpstreamFailed):
        raise outcome
    return outcome


def _headers(request: Request) -> Headers:
    """The caller's headers, without a key of ours."""
    is_key_ours = request.state.caller.name != LOCAL and KEY_HEADER not in request.headers
    return [
        (name, value)
        for name, value in request.headers.raw
        if name != b"authorization" or not (is_key_ours or _has_key_of_ours(value))
    ]


def _has_key_of_ours(authorization: bytes) -> bool:
    """Whether it has the form of our keys: on a service that needs no key yet, it is no provider's either."""
    return is_key(authorization.decode("latin-1").rpartition(" ")[2])


def _with_readable_encodings(headers: Headers) -> Headers:
    """The headers with encodings of which the answer can be read."""
    return [(name, _readable(value) if name == b"accept-encoding" else value) for name, value in headers]


def _readable(encodings: bytes) -> bytes:
    kept = [part.strip() for part in encodings.split(b",") if part.strip().partition(b";")[0].lower() in READABLE]
    return b", ".join(kept) or b"identity"


async def _refused(gateway: Gateway, call: GatewayRequest, sent: Forwarded, answer: httpx.Response) -> Response:
    """The answer to what is sent after a refusal; the refusal itself if nothing is, or if that gets no answer.

    This ends: after a smaller view only what came is sent, and after that nothing.

    Raises:
        UpstreamFailed: the refusal broke off, or is too large.
        ClientDisconnect: the caller left.
    """
    raw = await _read(gateway, call, answer)
    refusal = ProviderRefusal(answer.status_code, _text_of(answer, raw))
    again = await _while_awaited(call.request, partial(forwarded_again, gateway, call, sent, refusal))
    if again is None:
        return whole(answer, raw, sent.headers)
    try:
        return await _tried(gateway, call, again)
    except UpstreamFailed:
        return whole(answer, raw, sent.headers)


def _text_of(answer: httpx.Response, raw: bytes) -> str:
    """The text of a refusal, whatever its encoding."""
    try:
        return httpx.Response(answer.status_code, headers=answer.headers, content=raw).text[:REFUSAL_CHARS]
    except httpx.DecodingError:
        return ""
