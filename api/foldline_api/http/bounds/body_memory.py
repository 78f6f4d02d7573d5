"""Middleware around the bodies of requests: what all of them take of the memory, and how fast they may arrive."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.settings import Settings
from foldline_api.http.bounds.held_bytes import SMALL_BYTES, HeldAnswer, HeldBytes
from foldline_api.http.bounds.places import FairPlaces
from foldline_api.http.known_keys import LOCAL, Caller
from foldline_api.http.problems import BodiesFull, BodyTooSlow

# What follows these first bytes of a body is read at this rate, where other tenants wait for the event loop meanwhile.
# It comes in pieces of 256 KB, each of which keeps the loop for about a millisecond.
FREE_BYTES: Final = 1 << 20
LARGE_BYTES_PER_SECOND: Final = 16 << 20


class BodyMemory:
    """The middleware. A body counts from its first bytes until the answer begins, and a slow one is not waited for.

    Where callers need keys, a large answer counts until its client has read most of it, but for those of paths with one
    of `streaming_prefixes`, which leave in small pieces.

    On a shared service large ones are read slowly: at one rate for all of a tenant, and twice that in all. Those that
    are refused have such a rate of their own.
    """

    def __init__(self, app: ASGIApp, settings: Settings, streaming_prefixes: tuple[str, ...] = ()) -> None:
        self._app = app
        self._settings = settings
        self._streaming_prefixes = streaming_prefixes
        most = max(settings.max_bodies_bytes, 2 * settings.max_body_bytes)
        self._held, self._answers = HeldBytes(most), HeldBytes(most)
        self._rates, self._refused_rates = FairPlaces(2), FairPlaces(2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Paths that need no key have no tenant.
        caller: Caller | None = scope.get("state", {}).get("caller")
        is_shared = caller is not None and caller.name != LOCAL
        rates = (self._rates, self._refused_rates) if is_shared else None
        tenant = caller.tenant if caller else ""
        body = _Arriving(receive, self._settings, self._held, rates, tenant)
        answer = HeldAnswer(scope, receive, send, self._answers, tenant)
        is_counted = is_shared and not scope["path"].startswith(self._streaming_prefixes)
        pass_on = answer.send if is_counted else send

        async def release_and_send(message: Message) -> None:
            body.release()
            is_start = message["type"] == "http.response.start"
            await pass_on(_closing(message) if is_start and not await body.is_skipped() else message)

        try:
            await self._app(scope, body.receive, release_and_send)
        finally:
            body.release()
            answer.release()


@dataclass(slots=True)
class _Arriving:
    """The body of one request.

    `size` is what has arrived, `newest` the last piece of it, and `counted` what is held. With `rates`, of bodies that
    are taken and of those that are refused, a large one is read slowly, with pauses; `since_pause` is what has arrived
    after the last one.
    """

    source: Receive
    settings: Settings
    held: HeldBytes
    rates: tuple[FairPlaces, FairPlaces] | None
    tenant: str
    began: float = field(default_factory=monotonic)
    size: int = 0
    newest: int = 0
    since_pause: int = 0
    counted: int = 0
    is_complete: bool = False
    is_refused: bool = False

    async def receive(self) -> Message:
        """The next message of the request.

        Raises:
            BodyTooSlow: nothing has come for too long, or too little in all.
            BodiesFull: there is no memory for it.
        """
        if self.is_complete:
            return await self.source()
        message = await self._next()
        if self.size > SMALL_BYTES and not self.held.has_room(self.tenant, self.newest):
            self.is_refused = True
            raise BodiesFull(self.held.most)
        self.held.by_tenant[self.tenant] += self.newest
        self.counted += self.newest
        return message

    async def _next(self) -> Message:
        await self._wait_for_rate()
        message: Message | None = None
        with anyio.move_on_after(self._patience_seconds):
            message = await self.source()
        if message is None:
            raise BodyTooSlow(self.settings.body_bytes_per_second)
        self.newest = len(message.get("body", b""))
        self.size += self.newest
        self.since_pause += self.newest
        self.is_complete = not message.get("more_body", False)
        return message

    async def _wait_for_rate(self) -> None:
        """Wait before more of a large body is read. That is no delay of the client's."""
        if self.size <= FREE_BYTES:
            self.since_pause = 0
        # A pause of less than a millisecond may be none, or a whole one.
        if self.rates is not None and self.since_pause >= SMALL_BYTES:
            began = monotonic()
            async with self.rates[self.is_refused].one(self.tenant):
                await anyio.sleep(self.since_pause / LARGE_BYTES_PER_SECOND)
            self.since_pause = 0
            self.began += monotonic() - began

    async def is_skipped(self) -> bool:
        """Whether nothing of a refused body is left: it is read and not kept.

        Many callers look for an answer only after they have sent all.
        """
        with suppress(BodyTooSlow):
            while self.is_refused and not self.is_complete and self.size <= self.settings.max_body_bytes:
                await self._next()
        return self.is_complete or not self.is_refused

    def release(self) -> None:
        """Hold nothing of it any more."""
        if self.counted:
            self.held.give_back(self.tenant, self.counted)
            self.counted = 0

    @property
    def _patience_seconds(self) -> float:
        """How long the next bytes may take."""
        pause = self.settings.body_pause_seconds
        due = self.began + pause + self.size / self.settings.body_bytes_per_second
        return max(0.0, min(pause, due - monotonic()))


def _closing(message: Message) -> Message:
    """The beginning of an answer after which the connection cannot be used again."""
    return {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
