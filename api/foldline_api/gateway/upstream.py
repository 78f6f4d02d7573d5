"""The providers behind the gateway: requests go to them with the caller's own key, answers come back byte for byte."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, NamedTuple, Protocol

import httpx
from fastapi import Response
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from foldline.settings import Settings, variable
from foldline_api.gateway.authorities import EXTRA, distrust_in, trusted_authorities

logger = logging.getLogger(__name__)

CONNECT_SECONDS: Final = 10.0
# Headers of one connection, and those that our server or our client sets anew; the others go through as they came.
_OF_A_CONNECTION: Final = frozenset(
    {
        b"connection",
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
_NOT_PASSED_ON: Final = _OF_A_CONNECTION | {b"content-length", b"host"}
_NOT_PASSED_BACK: Final = _OF_A_CONNECTION | {b"date", b"server"}
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
        self._client = httpx.AsyncClient(
            verify=trusted_authorities(), timeout=timeout, limits=limits, cookies=no_cookies
        )
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
            message = _failure(outgoing.upstream, error)
            logger.warning("%s", message)
            raise UpstreamFailed(message) from error

    def _request(self, outgoing: Outgoing) -> httpx.Request:
        path = outgoing.path.removeprefix("/v1") if outgoing.upstream == "openai" else outgoing.path
        url = httpx.URL(self._urls[outgoing.upstream])
        target = url.raw_path.rstrip(b"/") + path.encode() + (b"?" + outgoing.query if outgoing.query else b"")
        headers = _without(outgoing.headers, _NOT_PASSED_ON)
        # In a URL, httpx would resolve dots and escape quotes.
        as_it_came = {"target": target}
        return self._client.build_request(
            outgoing.method, url, headers=headers, content=outgoing.body, extensions=as_it_came
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _failure(upstream: str, error: Exception) -> str:
    """What went wrong, and what to do next."""
    setting = variable(f"{upstream}_base_url")
    distrust = distrust_in(error)
    if distrust is None:
        return f"{upstream}'s address does not answer ({type(error).__name__}): see {setting}"
    return (
        f"the certificate of {upstream}'s address is not trusted ({distrust}): name the file of the certificate "
        f"authority that signed it in {EXTRA}, or correct {setting}, and start Foldline again"
    )


class Listener(Protocol):
    """Who reads an answer along with its caller."""

    def hear(self, chunk: bytes) -> None:
        """Some bytes went to the caller."""
        ...

    def keep(self) -> None:
        """All bytes did. This may wait for a database: it runs in a thread, and the caller does not wait for it."""
        ...


def passing(answer: httpx.Response, added: Mapping[str, str], listener: Listener | None = None) -> Response:
    """The provider's answer as it comes, with our headers added."""
    if listener is None:
        return _like(StreamingResponse(bytes_of(answer), answer.status_code), answer, added)
    body = _bytes_heard(answer, listener)
    return _like(StreamingResponse(body, answer.status_code, background=BackgroundTask(listener.keep)), answer, added)


def streaming(
    answer: httpx.Response, added: Mapping[str, str], chunks: AsyncIterator[bytes], keep: Callable[[], None]
) -> Response:
    """These bytes as the provider's answer, however many; `keep` is called once the caller has all of them."""
    response = _like(StreamingResponse(chunks, answer.status_code, background=BackgroundTask(keep)), answer, added)
    response.raw_headers = [header for header in response.raw_headers if header[0].lower() != b"content-length"]
    return response


async def read_whole(answer: httpx.Response, most_bytes: int) -> bytes:
    """All bytes of an answer, as they came.

    Raises:
        UpstreamFailed: it broke off, or has more than `most_bytes`.
    """
    read = bytearray()
    try:
        async with aclosing(bytes_of(answer)) as chunks:
            async for chunk in chunks:
                read += chunk
                if len(read) > most_bytes:
                    message = f"the provider's answer has more than {most_bytes} bytes"
                    raise UpstreamFailed(message)
        return bytes(read)
    except httpx.HTTPError as error:
        message = "the provider's answer broke off"
        raise UpstreamFailed(message) from error


def whole(answer: httpx.Response, raw: bytes, added: Mapping[str, str]) -> Response:
    """The provider's answer, of which these are all bytes, with our headers added."""
    return _like(Response(raw, answer.status_code), answer, added)


def _like(response: Response, answer: httpx.Response, added: Mapping[str, str]) -> Response:
    ours = [(name.encode(), value.encode()) for name, value in added.items()]
    response.raw_headers = [*_without(answer.headers.raw, _NOT_PASSED_BACK), *ours]
    return response


async def bytes_of(answer: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The bytes of an answer as they come; it is closed at the end."""
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


async def _bytes_heard(answer: httpx.Response, listener: Listener) -> AsyncIterator[bytes]:
    async with aclosing(bytes_of(answer)) as chunks:
        async for chunk in chunks:
            listener.hear(chunk)
            yield chunk


def _without(headers: Headers, names: AbstractSet[bytes]) -> Headers:
    """The headers without these, and without those of ours."""
    lowered = ((name.lower(), name, value) for name, value in headers)
    return [(name, value) for low, name, value in lowered if low not in names and not low.startswith(OUR_PREFIX)]
