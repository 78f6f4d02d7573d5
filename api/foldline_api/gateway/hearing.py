"""Reads a provider's answer while it goes to the caller, and keeps it when it has ended."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx
from httpx_sse import EventSource

from foldline.engine.gateway.answers import Answer, streamed_answer, whole_answer
from foldline.engine.gateway.dialects import Dialect
from foldline.engine.messages import Message
from foldline.engine.wire import loads_bounded
from foldline.log.gateway.answers import keep_answer
from foldline.telemetry.logs import describe
from foldline_api.gateway.forwarding import Forwarded, Gateway

logger = logging.getLogger(__name__)

# An answer of more bytes is not kept: the agent's next request has it.
MOST_BYTES: Final = 1 << 23
EVENT_STREAM: Final = "text/event-stream"
# What ends OpenAI's streams is no JSON value.
DONE: Final = "[DONE]"


def answer_in(dialect: Dialect, head: httpx.Response, raw: bytes) -> Answer | None:
    """What a provider answered with this status and these headers, whose bytes are all there; None if no one knows."""
    try:
        # Decoded as its headers say.
        answer = httpx.Response(head.status_code, headers=head.headers, content=raw)
        if not head.headers.get("content-type", "").startswith(EVENT_STREAM):
            return whole_answer(dialect, loads_bounded(answer.content))
        events = [event.data for event in EventSource(answer).iter_sse()]
        return streamed_answer(dialect, [loads_bounded(data) for data in events if data and data != DONE])
    except Exception as error:  # noqa: BLE001 - a provider may send anything, and the caller has it as it came
        logger.info("an answer was not understood: %s", describe(error))
        return None


def keep(gateway: Gateway, tenant: str, sent: Forwarded, answer: Answer, exchange: Sequence[Message] = ()) -> None:
    """Store an answer, and what led to it. A failure is logged: the caller has its answer."""
    if sent.turn is None or gateway.under_way.is_stuck(tenant):
        return
    try:
        with gateway.under_way.one(tenant):
            keep_answer(gateway.service.store, tenant, sent.turn, answer, exchange, is_of_view=sent.is_of_view)
    except Exception as error:  # noqa: BLE001 - a failure of ours never fails a call
        logger.warning("the gateway could not keep an answer: %s", describe(error))


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
        """Store the answer, if all of it was heard and it is understood."""
        asked = self.sent.asked
        found = answer_in(asked.dialect, self.answer, bytes(self._heard)) if asked and self._is_all else None
        if found is not None:
            keep(self.gateway, self.tenant, self.sent, found)
