"""Reads a provider's answer while it goes to the caller, and keeps it when it has ended."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

import httpx
from httpx_sse import EventSource

from foldline.engine.gateway.answers import Answer, streamed_answer, whole_answer
from foldline.engine.gateway.dialects import Dialect
from foldline.engine.wire import loads
from foldline.log.gateway.answers import keep_answer
from foldline.telemetry.logs import describe
from foldline_api.gateway.forwarding import Forwarded, Gateway

logger = logging.getLogger(__name__)

# An answer of more bytes is not kept: the agent's next request has it.
MOST_BYTES: Final = 1 << 23
EVENT_STREAM: Final = "text/event-stream"
# What ends OpenAI's streams is no JSON value.
DONE: Final = "[DONE]"


@dataclass(slots=True)
class Hearing:
    """One answer that goes by; `hear` gets its bytes as they come, `keep` is called when it has ended."""

    gateway: Gateway
    tenant: str
    sent: Forwarded
    answer: httpx.Response
    _heard: bytearray = field(default_factory=bytearray)
    _is_all: bool = True

    def hear(self, chunk: bytes) -> None:
        """Take in some bytes, as they came."""
        self._is_all = self._is_all and len(self._heard) + len(chunk) <= MOST_BYTES
        if self._is_all:
            self._heard += chunk
        else:
            self._heard.clear()

    def keep(self) -> None:
        """Store the answer, if it is understood. A failure is logged: the caller has its answer."""
        asked, turn = self.sent.asked, self.sent.turn
        if asked is None or turn is None or not self._is_all or self.gateway.under_way.is_stuck:
            return
        try:
            found = self._understood(asked.dialect)
            if found is not None:
                with self.gateway.under_way.one():
                    store = self.gateway.service.store
                    keep_answer(store, self.tenant, turn, found, is_of_view=self.sent.is_of_view)
        except Exception as error:  # noqa: BLE001 - a failure of ours never fails a call
            logger.warning("the gateway could not keep an answer: %s", describe(error))

    def _understood(self, dialect: Dialect) -> Answer | None:
        # Decoded as its headers say.
        answer = httpx.Response(self.answer.status_code, headers=self.answer.headers, content=bytes(self._heard))
        if not self.answer.headers.get("content-type", "").startswith(EVENT_STREAM):
            return whole_answer(dialect, loads(answer.content))
        events = [event.data for event in EventSource(answer).iter_sse()]
        return streamed_answer(dialect, [loads(data) for data in events if data and data != DONE])
