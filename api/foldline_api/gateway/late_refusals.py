"""Refusals for length in a stream that began well: the caller gets the answer to a smaller view in their place.

OpenAI's Responses API begins its stream before it has counted, and local servers do so too. What only says that there
is an answer is held back until the first event that says more.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import httpx
from httpx_sse import EventSource, ServerSentEvent

from foldline.engine.wire import dumps, loads_bounded
from foldline_api.gateway.hearing import EVENT_STREAM, Hearing
from foldline_api.gateway.upstream import bytes_of

# Events before the first that says more.
PING: Final = "ping"
_QUIET: Final = frozenset({"response.created", "response.queued", "response.in_progress", PING})
# The blank line that ends an event.
_END: Final = re.compile(rb"\n\r?\n|\r\r")
_FAILED: Final = frozenset({"error", "response.failed"})
# A beginning of more bytes is passed on: the first events repeat what was asked for, with all tools.
_MOST_BYTES: Final = 1 << 20


class Second(NamedTuple):
    """The answer to a smaller view, and who hears it."""

    answer: httpx.Response
    hearing: Hearing


# What is sent after a refusal with this text gets this answer; None if nothing is sent, or if it is refused too.
Again = Callable[[str], Awaitable[Second | None]]


def may_be_refused_late(answer: httpx.Response) -> bool:
    """Whether it is a stream of events that can be read as it comes."""
    headers = answer.headers
    is_plain = headers.get("content-encoding", "identity") == "identity"
    return answer.is_success and is_plain and headers.get("content-type", "").startswith(EVENT_STREAM)


@dataclass(slots=True)
class LateRefusals:
    """The bytes of an answer, or of the second one if the first is a refusal for length; `hearing` gets them too."""

    answer: httpx.Response
    hearing: Hearing
    again: Again

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come, but for what is held back of the beginning."""
        held, first = b"", None
        async with aclosing(bytes_of(self.answer)) as source:
            try:
                async for chunk in source:
                    known, held = len(held), held + chunk
                    events = _events_in(held, known)
                    first = next((event for event in events if not _is_quiet(event)), None)
                    if first is not None or len(held) > _MOST_BYTES:
                        break
                    if all(event.event == PING for event in events) and held.endswith((b"\n\n", b"\r\n\r\n")):
                        # It keeps the connection open while the caller waits.
                        yield self._heard(held)
                        held = b""
            except httpx.HTTPError:
                yield self._heard(held)
                raise
            failure = _failure_in(first) if first else None
            second = await self.again(failure) if failure else None
            if second is None:
                yield self._heard(held)
                async for chunk in source:
                    yield self._heard(chunk)
                return
        self.hearing = second.hearing
        async with aclosing(bytes_of(second.answer)) as source:
            async for chunk in source:
                yield self._heard(chunk)

    def keep(self) -> None:
        """Store the answer that the caller got."""
        self.hearing.keep()

    def _heard(self, chunk: bytes) -> bytes:
        self.hearing.hear(chunk)
        return chunk


def _events_in(held: bytes, known: int) -> list[ServerSentEvent]:
    """The complete events, if one has ended since so many bytes were `known`; comments are none."""
    if not _END.search(held, max(0, known - 3)):
        # A long event that comes in many pieces is not parsed for each.
        return []
    stream = httpx.Response(200, headers={"content-type": EVENT_STREAM}, content=held)
    return [event for event in EventSource(stream).iter_sse() if event.data]


def _is_quiet(event: ServerSentEvent) -> bool:
    return event.event in _QUIET or _value_in(event).get("type") in _QUIET


def _failure_in(event: ServerSentEvent) -> str | None:
    """The text of a failure, as JSON; None if the event is none."""
    value = _value_in(event)
    response = value.get("response")
    error = value.get("error") or (response.get("error") if isinstance(response, dict) else None)
    if error:
        return dumps({"error": error}).decode()
    return event.data if event.event in _FAILED or value.get("type") in _FAILED else None


def _value_in(event: ServerSentEvent) -> dict[str, Any]:
    """The object that an event has as JSON; empty if it has none."""
    with suppress(ValueError):
        value = loads_bounded(event.data)
        return value if isinstance(value, dict) else {}
    return {}
