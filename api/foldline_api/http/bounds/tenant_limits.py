"""Middleware that limits what one tenant, and one key, may ask of the service: how often, how much, at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
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
        self._most_at_a_time = settings.tenant_concurrent_requests
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        if caller is None or caller.name == LOCAL:
            await self._app(scope, receive, send)
            return
        body = _CountedBody(receive, lambda amount: self._spend(caller.tenant, amount))
        try:
            async with self._admitted(caller, Headers(scope=scope)):
                try:
                    await self._app(scope, body.receive, send)
                finally:
                    # Whoever hangs up in the middle of a body pays for the part that arrived.
                    with anyio.CancelScope(shield=True):
                        await body.count()
        except TenantLimitReached as error:
            # The application answers its own by itself.
            self._publish(TenantLimited(error.setting))
            await refusal(scope, error)(scope, receive, send)

    @asynccontextmanager
    async def _admitted(self, caller: Caller, headers: Headers) -> AsyncIterator[None]:
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
            self._check_bytes(tenant, headers)
            yield
        finally:
            self._open[tenant] -= 1
            if not self._open[tenant]:
                del self._open[tenant]

    async def _check_rate(self, rate: Limit, name: str, what: str) -> None:
        if rate.most and not await self._counts.take(rate, name):
            raise TenantLimitReached(rate.most, rate.name, what)

    def _check_bytes(self, tenant: str, headers: Headers) -> None:
        # What a request announces is not counted: anybody can announce anything, and send nothing.
        seconds = self._counts.spent_seconds(self._bytes, tenant) if _has_body(headers) else 0
        if seconds:
            raise TenantLimitReached(self._bytes.most, BYTES, "the tenant has sent too many bytes today", seconds)

    async def _spend(self, tenant: str, amount: int) -> None:
        if self._bytes.most:
            await self._counts.spend(self._bytes, tenant, amount)


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


class _CountedBody:
    """The body of a request; `spend` gets the bytes that arrived, once, when it ends or nobody reads on."""

    def __init__(self, source: Receive, spend: Callable[[int], Awaitable[None]]) -> None:
        self._source = source
        self._spend = spend
        self._arrived_bytes = 0

    async def receive(self) -> Message:
        """The next message of the request."""
        message = await self._source()
        self._arrived_bytes += len(message.get("body", b""))
        if not message.get("more_body", False):
            await self.count()
        return message

    async def count(self) -> None:
        """Count what arrived and was not counted yet."""
        arrived, self._arrived_bytes = self._arrived_bytes, 0
        if arrived:
            await self._spend(arrived)
