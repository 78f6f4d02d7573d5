"""An HTTP endpoint of a model's provider: bounded, cancellable calls, and what its refusals mean.

No log line or error has a text or a key; of a provider's error message it has only a cleaned excerpt.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from typing import Any, Final

import httpx

from foldline.engine.overflow import NO_OVERFLOW, output_limit_of, verdict_of
from foldline.engine.wire import loads_bounded
from foldline.telemetry.tracing import TRACEPARENT, Silent, Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.calls.connections import IDLE_SECONDS, Connections, EndpointCall
from foldline_worker.summarizers.calls.deadlines import Deadlines
from foldline_worker.summarizers.calls.provider_error import excerpt_of

CONNECT_SECONDS: Final = 5.0
# An answer has a few thousand tokens; a longer one is not a summary.
MOST_ANSWER_BYTES: Final = 8 * 1024 * 1024
MOST_ERROR_BYTES: Final = 64 * 1024
# How long the end of an answer is waited for that is complete already.
END_SECONDS: Final = 0.1

_TOO_MANY_REQUESTS: Final = 429
# A quota that is used up, unlike a rate, does not come back in seconds.
_USED_UP: Final = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
_TIMED_OUT: Final = frozenset({408, 425})
_SERVER_ERROR: Final = 500
_OVERFLOW_STATUSES: Final = frozenset({400, 413, 422, 500})
_BAD_REQUESTS: Final = frozenset({400, 413, 422})
# Reasons an `EndpointUnavailable` gives.
TOO_SLOW: Final = "the call took too long"
NOT_JSON: Final = "its answer is not JSON"
ERROR_INSIDE: Final = "it reported an error in its answer"


class EndpointError(Exception):
    """Root of the errors of a call: `EndpointUnavailable`, `TooLong`, `AnswerTooLong`."""


class EndpointUnavailable(EndpointError):
    """The endpoint gave no answer. `is_passing`: another try may succeed, after `retry_after_seconds` if given.

    `is_refusal`: the endpoint works, and refused this request.
    """

    def __init__(
        self, reason: str, *, is_passing: bool, retry_after_seconds: float | None = None, is_refusal: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.retry_after_seconds = retry_after_seconds
        self.is_refusal = is_refusal


class TooLong(EndpointError):
    """The endpoint refused the prompt with the answer asked for as longer than its model takes.

    `limit_tokens` are those of both together, `actual_tokens` those of the prompt by the endpoint's count, if named.
    """

    def __init__(self, reason: str, limit_tokens: int | None = None, actual_tokens: int | None = None) -> None:
        super().__init__(reason)
        self.limit_tokens = limit_tokens
        self.actual_tokens = actual_tokens


class AnswerTooLong(EndpointError):
    """The endpoint refused to give an answer of so many tokens as were asked for; it gives `limit_tokens`."""

    def __init__(self, reason: str, limit_tokens: int) -> None:
        super().__init__(reason)
        self.limit_tokens = limit_tokens


@cache
def _authorities() -> ssl.SSLContext:
    """Those that are trusted. To read them takes 30 ms, so the endpoints of a process share them."""
    return httpx.create_ssl_context(trust_env=False)


class Endpoint:
    """Calls an address below `base_url`; `timeout_seconds` bounds each call as a whole. No error has the `key`."""

    def __init__(
        self,
        *,
        base_url: str,
        headers: Mapping[str, str],
        key: str | None,
        timeout_seconds: float,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing or Silent()
        self._timeout_seconds = timeout_seconds
        self._key = key
        self._deadlines = Deadlines()
        create = partial(
            httpx.Client,
            base_url=base_url.rstrip("/") + "/",
            headers=dict(headers),
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds)),
            limits=httpx.Limits(max_connections=1, keepalive_expiry=IDLE_SECONDS),
            verify=_authorities(),
            trust_env=False,
        )
        # The worker's slots bound their number.
        self._connections = Connections(create)

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()
        self._deadlines.close()

    @contextmanager
    def call(self, cancellation: Cancellation) -> Iterator[EndpointCall]:
        """A call, which is ended when it is cancelled or overdue.

        Raises:
            Cancelled: the work was cancelled; the connection is ended.
            EndpointUnavailable: the call took too long, or its connection failed.
        """
        connection = self._connections.take()
        call = EndpointCall(connection)
        try:
            with (
                cancellation.ending(call.cut),
                self._deadlines.within(self._timeout_seconds, call.cut),
                _translated(),
            ):
                yield call
        finally:
            call.end()
            if call.is_whole and not call.is_cut:
                self._connections.give_back(connection)
            else:
                connection.close()
            # Checked first: an ended connection looks like an error, or like the end of the answer.
            if call.is_cut:
                cancellation.check()
                if not call.is_answered:
                    raise EndpointUnavailable(TOO_SLOW, is_passing=True)

    @contextmanager
    def posted(self, path: str, body: Any, call: EndpointCall) -> Iterator[httpx.Response]:
        """The response to a request, whose body is yet to be read."""
        extensions = {"trace": call.trace}
        trace = self._tracing.traceparent
        headers = {TRACEPARENT: trace} if trace else {}
        call.has_cost = call.is_whole = False
        with ExitStack() as opened:
            sent = call.http.stream("POST", path, json=body, headers=headers, extensions=extensions)
            try:
                response = opened.enter_context(sent)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                # The server had just closed a connection that was kept, and has read nothing.
                call.has_cost = call.has_cost and (call.is_on_new or call.is_cut)
                raise
            call.has_cost = response.is_success
            try:
                yield response
            finally:
                call.is_whole = response.is_closed

    def finish(self, rest: Iterable[object], call: EndpointCall) -> None:
        """Read the rest of an answer that is complete already, but not for long: then its connection has more calls."""
        call.is_answered = True
        with suppress(httpx.RequestError), self._deadlines.within(END_SECONDS, call.leave):
            for _ in rest:
                pass

    def refused(self, response: httpx.Response, text: str, sent: Iterable[str]) -> EndpointError:
        """What a response with an error means; `text` is its body, and `sent` are the texts of the request."""
        status = response.status_code
        if status in _OVERFLOW_STATUSES:
            verdict, limit = verdict_of(text), output_limit_of(text)
            if limit is not None and not (verdict.is_overflow and verdict.limit_tokens):
                return AnswerTooLong(f"HTTP {status}", limit)
            if verdict.is_overflow:
                return TooLong(f"HTTP {status}", verdict.limit_tokens, verdict.actual_tokens)
        # The user can correct a bad request by the message; a failing server's message does not help.
        said = excerpt_of(text, sent, self._key) if response.is_client_error else ""
        is_used_up = _USED_UP.search(text) and "retry-after" not in response.headers
        is_busy = status == _TOO_MANY_REQUESTS and not is_used_up
        is_passing = is_busy or status in _TIMED_OUT or status >= _SERVER_ERROR
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        return EndpointUnavailable(
            reason,
            is_passing=is_passing,
            retry_after_seconds=_retry_after(response),
            is_refusal=status in _BAD_REQUESTS and not is_used_up,
        )


@contextmanager
def _translated() -> Iterator[None]:
    """A block in which the HTTP client's errors are raised as ours."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise EndpointUnavailable(TOO_SLOW, is_passing=True) from error
    except httpx.TransportError as error:
        raise EndpointUnavailable(_broken(error), is_passing=True) from error
    except httpx.HTTPError as error:
        raise EndpointUnavailable(_broken(error), is_passing=False) from error


def _broken(error: httpx.HTTPError) -> str:
    return f"the connection failed ({type(error).__name__})"


def texts_in(value: Any) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [text for item in inside for text in texts_in(item)]


def error_text(response: httpx.Response) -> str:
    """The body of a response with an error, or its beginning."""
    return b"".join(bounded(response, MOST_ERROR_BYTES)).decode("utf-8", "replace")


def whole_answer(response: httpx.Response, most_bytes: int = MOST_ANSWER_BYTES) -> dict[str, Any]:
    """The JSON object in a response of at most about so many bytes.

    Raises:
        TooLong: it reports that prompt and answer exceed the model's context window.
        EndpointUnavailable: it is not JSON, or it reports another error.
    """
    return json_object(b"".join(bounded(response, most_bytes)))


def bounded(response: httpx.Response, most: int) -> Iterator[bytes]:
    """The response's body in pieces, cut off after about `most` bytes."""
    read = 0
    for piece in response.iter_bytes():
        yield piece
        read += len(piece)
        if read > most:
            return


def json_object(data: bytes) -> dict[str, Any]:
    """The JSON object in these bytes; see `whole_answer`."""
    try:
        value = loads_bounded(data)
    except ValueError:
        raise EndpointUnavailable(NOT_JSON, is_passing=True) from None
    if not isinstance(value, dict) or value.get("error"):
        raise reported(value)
    return value


def reported(answer: object) -> EndpointError:
    """What an answer, or an event of one, with an error in it means: a call may turn out to be too long late."""
    verdict = verdict_of(answer) if isinstance(answer, dict) else NO_OVERFLOW
    if verdict.is_overflow:
        return TooLong(ERROR_INSIDE, verdict.limit_tokens, verdict.actual_tokens)
    return EndpointUnavailable(ERROR_INSIDE, is_passing=True)


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds in `Retry-After`; None for a date, which few servers send, so that the ordinary backoff applies."""
    value = response.headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", value) else None
