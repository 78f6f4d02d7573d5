"""Middleware that answers for a database that keeps silent: requests in flight get an answer within seconds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.log.errors import OutcomeUnknown, Unavailable
from foldline.telemetry.health import DATABASE, Health
from foldline_api.http.problems import problem

# While a request takes longer than this, the database is looked at, with a pause between two looks.
PATIENCE_SECONDS: Final = 4.0
LOOK_SECONDS: Final = 0.5
# So long it must not have answered any look: a moment's pause, in which one of them waits, is no silence.
SILENCE_SECONDS: Final = 3.0
# Methods that change nothing may be repeated in any case.
READING: Final = frozenset({"GET", "HEAD"})
SILENCE: Final = "the database keeps silent"


class Patience:
    """Middleware around the routes that need the database; paths with one of `bare_prefixes` go without.

    What waits for a thread then is given up, and what a thread does already goes on, with nobody to hear of it.
    """

    def __init__(self, app: ASGIApp, bare_prefixes: tuple[str, ...]) -> None:
        self._app = app
        self._bare_prefixes = bare_prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._bare_prefixes):
            await self._app(scope, receive, send)
            return
        answer = _PendingAnswer(scope, receive, send)
        timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, answer.begin_to_look)
        try:
            with answer.work:
                await self._app(scope, receive, answer.send)
        finally:
            timer.cancel()
            answer.end()


@dataclass(slots=True)
class _PendingAnswer:
    """The answer to one request: that of the application, unless the database keeps it from giving one."""

    scope: Scope
    receive: Receive
    to_client: Send
    work: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    has_begun: bool = False
    is_given_up: bool = False
    _looking: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Pass a part of the application's answer on, if it is not too late."""
        if not self.is_given_up:
            self.has_begun = True
            await self.to_client(message)

    def begin_to_look(self) -> None:
        """Look at the database from now on, until the answer begins."""
        self._looking = asyncio.create_task(self._look(), name="foldline-patience")

    def end(self) -> None:
        """Look no more."""
        if self._looking is not None and not self.is_given_up:
            self._looking.cancel()

    async def _look(self) -> None:
        health: Health = self.scope["app"].state.health
        answered_at = monotonic()
        # The last look is right before the answer.
        while monotonic() < answered_at + SILENCE_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)
            if await health.answers(DATABASE):
                answered_at = monotonic()
            if self.has_begun:
                return
        self.is_given_up = True
        reads = self.scope["method"] in READING
        await problem(Unavailable(SILENCE) if reads else OutcomeUnknown(SILENCE))(
            self.scope, self.receive, self.to_client
        )
        self.work.cancel()
