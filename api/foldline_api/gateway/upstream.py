"""The providers behind the gateway: requests go to them with the caller's own key, answers come back byte for byte."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, NamedTuple

import httpx
from fastapi import Response
from starlette.responses import StreamingResponse

from foldline.settings import Settings

CONNECT_SECONDS: Final = 10.0
# Headers of one connection, and those of ours; the others go through as they came.
_OWN: Final = frozenset(
    {
        b"connection",
        b"content-length",
        b"host",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OUR_SERVERS: Final = frozenset({b"date", b"server"})
OUR_PREFIX: Final = b"x-foldline"

Headers = list[tuple[bytes, bytes]]


class Outgoing(NamedTuple):
    """A request for the provider `upstream`; its headers are those that came."""

    upstream: str
    method: str
    path: str
    query: bytes
    headers: Headers
    body: bytes


class UpstreamFailed(Exception):
    """The provider could not be reached, or did not answer in time."""


class Upstreams:
    """The providers by name, and the connections to them."""

    def __init__(self, settings: Settings) -> None:
        # One of these settings has the `/v1` of the paths, or what an address has in its place.
        self._urls: Mapping[str, str] = {
            "anthropic": settings.anthropic_base_url.rstrip("/"),
            "openai": settings.openai_base_url.rstrip("/"),
        }
        timeout = httpx.Timeout(settings.gateway_timeout_seconds, connect=CONNECT_SECONDS, pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        # What one caller is given to keep is not sent for another.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, cookies=no_cookies)
        # What the caller did not send is not added.
        self._client.headers.clear()

    async def send(self, outgoing: Outgoing) -> httpx.Response:
        """The beginning of a provider's answer; whoever gets it closes it.

        Raises:
            UpstreamFailed: there is none.
        """
        try:
            return await self._client.send(self._request(outgoing), stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            message = f"{outgoing.upstream}'s address does not answer: {type(error).__name__}"
            raise UpstreamFailed(message) from error

    def _request(self, outgoing: Outgoing) -> httpx.Request:
        path = outgoing.path.removeprefix("/v1") if outgoing.upstream == "openai" else outgoing.path
        url = httpx.URL(self._urls[outgoing.upstream] + path)
        if outgoing.query:
            url = url.copy_with(query=outgoing.query)
        headers = _passed_on(outgoing.headers)
        return self._client.build_request(outgoing.method, url, headers=headers, content=outgoing.body)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def passing(answer: httpx.Response, added: Mapping[str, str]) -> Response:
    """The provider's answer as it comes, with our headers added."""
    response = StreamingResponse(_bytes_of(answer), answer.status_code)
    ours = [(name.encode(), value.encode()) for name, value in added.items()]
    length = [(name, value) for name, value in answer.headers.raw if name.lower() == b"content-length"]
    response.raw_headers = [*_passed_back(answer), *length, *ours]
    return response


def whole(answer: httpx.Response, raw: bytes, added: Mapping[str, str]) -> Response:
    """The provider's answer, of which these are all bytes, with our headers added."""
    response = Response(raw, answer.status_code)
    ours = [(name.encode(), value.encode()) for name, value in added.items()]
    response.raw_headers = [*_passed_back(answer), (b"content-length", str(len(raw)).encode()), *ours]
    return response


async def _bytes_of(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


def _passed_on(headers: Headers) -> Headers:
    return [
        (name, value) for name, value in headers if name.lower() not in _OWN and not name.lower().startswith(OUR_PREFIX)
    ]


def _passed_back(answer: httpx.Response) -> Headers:
    """The headers of an answer, without the two that our server adds."""
    return [(name, value) for name, value in _passed_on(answer.headers.raw) if name.lower() not in _OUR_SERVERS]
