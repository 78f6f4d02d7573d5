"""Middleware that limits what one tenant, and one key, may ask of the service: how often, how much, at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.log.errors import TenantLimitReached
from foldline.log.events import TenantLimited
from foldline.settings import Settings
from foldline_api.gateway.refusals import refusal
from foldline_api.http.bounds.shared_counts import Limit, SharedCounts
from foldline_api.http.known_keys import LOCAL, Caller

OF_KEY: Final = "key_requests_per_second"
OF_TENANT: Final = "tenant_requests_per_second"
AT_A_TIME: Final = "tenant_concurrent_requests"
BYTES: Final = "tenant_body_bytes_per_day"
DAY_SECONDS: Final = 86_400


class TenantLimits:
    """The middleware. Callers of a service without keys have no limits, and neither have paths that need no key.

    `publish` gets an event for each refusal.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, counts: SharedCounts, publish: Callable[[TenantLimited], None]
    ) -> None:
        self._app = app
        self._counts = counts
        self._publish = publish
        self._of_key = Limit(OF_KEY, settings.key_requests_per_second, 1)
        self._of_tenant = Limit(OF_TENANT, settings.tenant_requests_per_second, 1)
        self._bytes = Limit(BYTES, settings.tenant_body_bytes_per_day, DAY_SECONDS)
        self._most_bytes = settings.max_body_bytes
        self._most_at_a_time = settings.tenant_concurrent_requests
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        if caller is None or caller.name == LOCAL:
            await self._app(scope, receive, send)
            return
        body = _CountedBody(receive, Headers(scope=scope), self._most_bytes)
        try:
            async with self._admitted(caller, body):
                await self._app(scope, body.receive, send)
        except TenantLimitReached as error:
            # The application answers its own by itself.
            self._publish(TenantLimited(error.setting))
            await refusal(scope, error)(scope, receive, send)

    @asynccontextmanager
    async def _admitted(self, caller: Caller, body: _CountedBody) -> AsyncIterator[None]:
        """A block for a request that is within the limits.

        Raises:
            TenantLimitReached: it is not, and nothing was done.
        """
        tenant = caller.tenant
        if 0 < self._most_at_a_time <= self._open[tenant]:
            raise TenantLimitReached(self._most_at_a_time, AT_A_TIME, "the tenant has too many requests under way")
        self._open[tenant] += 1
        try:
            # First the key: one that is over its own rate takes nothing from the tenant's others.
            await self._check_rate(self._of_key, f"{caller.name}/{tenant}", "the key is used too often a second")
            await self._check_rate(self._of_tenant, tenant, "the tenant sends too many requests a second")
            await self._check_bytes(tenant, body)
            yield
            if self._bytes.most and body.unannounced_bytes:
                await self._counts.spend(self._bytes, tenant, body.unannounced_bytes)
        finally:
            self._open[tenant] -= 1
            if not self._open[tenant]:
                del self._open[tenant]

    async def _check_rate(self, rate: Limit, name: str, what: str) -> None:
        if rate.most and not await self._counts.take(rate, name):
            raise TenantLimitReached(rate.most, rate.name, what)

    async def _check_bytes(self, tenant: str, body: _CountedBody) -> None:
        if not (self._bytes.most and body.is_there):
            return
        seconds = await self._counts.spend(self._bytes, tenant, body.announced_bytes)
        if seconds:
            raise TenantLimitReached(self._bytes.most, BYTES, "the tenant has sent too many bytes today", seconds)


class _CountedBody:
    """The body of a request: the bytes that it is announced with, and those that arrived without."""

    def __init__(self, source: Receive, headers: Headers, most: int) -> None:
        announced = headers.get("content-length", "")
        # What is larger is refused later, and does not arrive.
        self.announced_bytes = min(most, int(announced)) if announced.isdecimal() else 0
        self.unannounced_bytes = 0
        self._is_chunked = "transfer-encoding" in headers
        self._source = source

    @property
    def is_there(self) -> bool:
        """Whether the request has one."""
        return self._is_chunked or self.announced_bytes > 0

    async def receive(self) -> Message:
        """The next message of the request."""
        message = await self._source()
        if self._is_chunked:
            self.unannounced_bytes += len(message.get("body", b""))
        return message
