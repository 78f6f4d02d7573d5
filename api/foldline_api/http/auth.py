"""Authorization: each bearer key belongs to a tenant. Without keys, there is one tenant on this machine alone."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from foldline.log.errors import Unavailable
from foldline.log.storage.turns import WRITING_FOR
from foldline_api.gateway.refusals import refusal
from foldline_api.http.known_keys import LOCAL, Caller, KnownKeys
from foldline_api.http.problems import Unauthorized

DEFAULT_TENANT: Final = "default"
# Probes carry no key.
OPEN_PATHS: Final = frozenset({"/healthz", "/readyz"})

# On the routes of a provider's API, `Authorization` has the provider's key.
KEY_HEADER: Final = "x-foldline-key"

NO_KEY: Final = "this service needs a key: send `Authorization: Bearer <key>`, to its gateway `X-Foldline-Key: <key>`"
FOREIGN_CLIENT: Final = "without API keys this service answers its own machine only"
FOREIGN_NAME: Final = "without API keys this service answers only to localhost and loopback addresses"
FOREIGN_PAGE: Final = "without API keys this service answers no web pages of other origins"


class Auth:
    """Middleware that puts the `Caller` into `request.state.caller`, or answers 401; 503 if it cannot be known who."""

    def __init__(self, app: ASGIApp, keys: KnownKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            try:
                caller = await self._caller(scope)
            except (Unauthorized, Unavailable) as error:
                await refusal(scope, error)(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
            WRITING_FOR.set(caller.tenant)
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        if not self._keys.are_needed:
            _check_is_local(scope, headers)
            return Caller(DEFAULT_TENANT, LOCAL)
        return await self._keys.caller(_key_in(headers))


def _key_in(headers: Headers) -> str:
    own = headers.get(KEY_HEADER)
    if own is not None:
        return own.strip()
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise Unauthorized(NO_KEY)
    return given.strip()


def _check_is_local(scope: Scope, headers: Headers) -> None:
    """Refuse other machines, and web pages of other origins in a browser on this machine."""
    client, origin = scope.get("client"), headers.get("origin")
    if client is not None and not _is_local(client[0]):
        raise Unauthorized(FOREIGN_CLIENT)
    if not _is_local_address(f"//{headers.get('host', 'localhost')}"):
        raise Unauthorized(FOREIGN_NAME)
    if origin is not None and not _is_local_address(origin):
        raise Unauthorized(FOREIGN_PAGE)


# Clients on this machine use few names of it.
@lru_cache(maxsize=64)
def _is_local_address(address: str) -> bool:
    return _is_local(_host(address))


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _is_local(host: str | None) -> bool:
    if host is None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
