"""A client of an OpenAI-compatible chat endpoint: streaming if the server can, bounded, and cancellable.

No log line or error has a text or a key; of a provider's error message it has only a cleaned excerpt.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self

import httpx
from pydantic import SecretStr

from foldline.engine.overflow import verdict_of
from foldline.engine.wire import loads_bounded
from foldline.telemetry.tracing import TRACEPARENT, Silent, Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.deadlines import Deadlines
from foldline_worker.summarizers.provider_error import excerpt_of

CONNECT_SECONDS: Final = 5.0
# An answer has a few thousand tokens; a longer one is not a summary.
MOST_ANSWER_BYTES: Final = 8 * 1024 * 1024
MOST_ERROR_BYTES: Final = 64 * 1024
MOST_NAME_CHARS: Final = 200
# The HTTP client's event for a new connection.
CONNECTED: Final = "connection.connect_tcp.complete"
DATA: Final = b"data:"
DONE: Final = b"[DONE]"

_TOO_MANY_REQUESTS: Final = 429
_TIMED_OUT: Final = frozenset({408, 425})
_SERVER_ERROR: Final = 500
_OVERFLOW_STATUSES: Final = frozenset({400, 413, 422, 500})
# Reasons an `EndpointUnavailable` gives.
TOO_SLOW: Final = "the call took too long"
NOT_JSON: Final = "its answer is not JSON"
ERROR_INSIDE: Final = "it reported an error in its answer"

# Only these statuses may refuse an option of the request; a 403 about streaming is about a plan or a region.
_BAD_REQUESTS: Final = frozenset({400, 404, 422})
# As a word of its own: proxies mention their upstream.
_STREAM: Final = re.compile(r"\bstream(?:ing|_options)?\b", re.IGNORECASE)
MAX_TOKENS: Final = "max_tokens"
MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"


class ChatError(Exception):
    """Root of the errors of a call: `EndpointUnavailable`, `InputTooLong`."""


class EndpointUnavailable(ChatError):
    """The endpoint gave no answer. `is_passing`: another try may succeed, after `retry_after_seconds` if given."""

    def __init__(self, reason: str, *, is_passing: bool, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.retry_after_seconds = retry_after_seconds


class InputTooLong(ChatError):
    """The endpoint refused the prompt as longer than its model's context window."""


@dataclass(slots=True)
class ChatAnswer:
    """The model's answer; one that broke off has no finish reason. `usage` has `input` and `output` tokens."""

    content: str = ""
    finish_reason: str | None = None
    has_tool_calls: bool = False
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict)

    def take(self, chunk: dict[str, Any]) -> None:
        """Add a chunk of a stream, or a complete answer."""
        self.model = _name(chunk.get("model")) or self.model
        self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        said = choice.get("delta") or choice.get("message") or {}
        self.content += said["content"] if isinstance(said.get("content"), str) else ""
        self.has_tool_calls |= bool(said.get("tool_calls") or said.get("function_call"))
        self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            names = {"input": "prompt_tokens", "output": "completion_tokens"}
            self.usage = {name: usage[theirs] for name, theirs in names.items() if isinstance(usage.get(theirs), int)}


def _name(value: object) -> str | None:
    """The value if it is a printable name that the database can store, else None."""
    return value if isinstance(value, str) and value.isprintable() and len(value) <= MOST_NAME_CHARS else None


class Connection:
    """The sockets of a call, so that another thread can end it: closing the client would not wake a waiting read."""

    def __init__(self) -> None:
        self.is_cut = False
        self._sockets: list[socket.socket] = []

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Called by the HTTP client at each step of a request."""
        if event == CONNECTED:
            # A duplicate of the socket under TLS: shutting down the one in use would continue without encryption.
            self._sockets.append(info["return_value"].get_extra_info("socket").dup())
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """End the connection; a waiting read returns at once."""
        self.is_cut = True
        for handle in list(self._sockets):
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the duplicates; the HTTP client closes its own sockets."""
        for handle in self._sockets:
            handle.close()


class ChatClient:
    """Calls `{base_url}/chat/completions`; `timeout_seconds` bounds each call as a whole."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | None,
        model: str,
        timeout_seconds: float,
        tracing: Tracing | None = None,
    ) -> None:
        self.model = model
        self._tracing = tracing or Silent()
        self._timeout_seconds = timeout_seconds
        self._streams = True
        self._limit_name = MAX_TOKENS
        self._key = api_key.get_secret_value() if api_key else None
        self._deadlines = Deadlines()
        self._http = httpx.Client(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds)),
            # Each call has a connection of its own, so that ending it ends no other call. The worker's slots bound
            # their number.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._deadlines.close()

    def complete(self, messages: list[dict[str, str]], max_tokens: int, cancellation: Cancellation) -> ChatAnswer:
        """The model's answer to the chat messages.

        Raises:
            Cancelled: the work was cancelled; the connection is ended.
            InputTooLong: the prompt exceeds the model's context window.
            EndpointUnavailable: no answer, for any other reason.
        """
        called = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.model}
        with (
            self._tracing.span(f"chat {self.model}", place="client", facts=called) as span,
            self._cuttable(cancellation) as connection,
        ):
            answer = self._exchange(messages, max_tokens, connection)
            span.note({f"gen_ai.usage.{direction}_tokens": tokens for direction, tokens in answer.usage.items()})
            return answer

    @contextmanager
    def _cuttable(self, cancellation: Cancellation) -> Iterator[Connection]:
        """The connection of a call, which is ended when the call is cancelled or overdue."""
        connection = Connection()
        try:
            with (
                closing(connection),
                cancellation.ending(connection.cut),
                self._deadlines.within(self._timeout_seconds, connection.cut),
            ):
                yield connection
        finally:
            # Checked first: an ended connection looks like an error, or like the end of the answer.
            if connection.is_cut:
                cancellation.check()
                raise EndpointUnavailable(TOO_SLOW, is_passing=True)

    def _exchange(self, messages: list[dict[str, str]], max_tokens: int, connection: Connection) -> ChatAnswer:
        try:
            return self._send(messages, max_tokens, connection)
        except httpx.TimeoutException as error:
            raise EndpointUnavailable(TOO_SLOW, is_passing=True) from error
        except httpx.TransportError as error:
            raise EndpointUnavailable(_broken(error), is_passing=True) from error
        except httpx.HTTPError as error:
            raise EndpointUnavailable(_broken(error), is_passing=False) from error

    def _send(self, messages: list[dict[str, str]], max_tokens: int, connection: Connection) -> ChatAnswer:
        body = self._body(messages, max_tokens)
        extensions = {"trace": connection.trace}
        trace = self._tracing.traceparent
        headers = {TRACEPARENT: trace} if trace else {}
        with self._http.stream(
            "POST", "chat/completions", json=body, headers=headers, extensions=extensions
        ) as response:
            if response.is_success:
                return _read_answer(response)
            text = b"".join(_bounded(response, MOST_ERROR_BYTES)).decode("utf-8", "replace")
        refused = self._refused(response, text, messages)
        if isinstance(refused, EndpointUnavailable) and self._adapts(response.status_code, text, body):
            return self._send(messages, max_tokens, connection)
        raise refused

    def _body(self, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "messages": messages, self._limit_name: max_tokens}
        return body | {"stream": True, "stream_options": {"include_usage": True}} if self._streams else body

    def _adapts(self, status: int, text: str, body: dict[str, Any]) -> bool:
        """Whether the refusal names an option in `body` that has an alternative, which is used from now on."""
        if status not in _BAD_REQUESTS:
            return False
        if MAX_TOKENS in body and MAX_COMPLETION_TOKENS in text:
            self._limit_name = MAX_COMPLETION_TOKENS
            return True
        if "stream" in body and _STREAM.search(text):
            # Some servers do not support streaming or its options; they are sent requests without it.
            self._streams = False
            return True
        return False

    def _refused(self, response: httpx.Response, text: str, messages: list[dict[str, str]]) -> ChatError:
        status = response.status_code
        if status in _OVERFLOW_STATUSES and verdict_of(text).is_overflow:
            return InputTooLong(f"HTTP {status}")
        # The user can correct a bad request by the message; a failing server's message does not help.
        sent = (message["content"] for message in messages)
        said = excerpt_of(text, sent, self._key) if response.is_client_error else ""
        is_passing = status == _TOO_MANY_REQUESTS or status in _TIMED_OUT or status >= _SERVER_ERROR
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        return EndpointUnavailable(reason, is_passing=is_passing, retry_after_seconds=_retry_after(response))


def _broken(error: httpx.HTTPError) -> str:
    return f"the connection failed ({type(error).__name__})"


def _read_answer(response: httpx.Response) -> ChatAnswer:
    answer = ChatAnswer()
    if "event-stream" in response.headers.get("content-type", ""):
        for event in _events(response):
            answer.take(_object(event))
    else:
        answer.take(_object(b"".join(_bounded(response, MOST_ANSWER_BYTES))))
    return answer


def _events(response: httpx.Response) -> Iterator[bytes]:
    """The data of a stream's events, up to `[DONE]`."""
    pending = b""
    for piece in _bounded(response, MOST_ANSWER_BYTES):
        *complete, pending = (pending + piece).split(b"\n")
        for line in complete:
            data = line.strip().removeprefix(DATA).strip() if line.startswith(DATA) else b""
            if data == DONE:
                return
            if data:
                yield data


def _bounded(response: httpx.Response, most: int) -> Iterator[bytes]:
    """The response's body in pieces, cut off after about `most` bytes."""
    read = 0
    for piece in response.iter_bytes():
        yield piece
        read += len(piece)
        if read > most:
            return


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = loads_bounded(data)
    except ValueError:
        raise EndpointUnavailable(NOT_JSON, is_passing=True) from None
    if not isinstance(value, dict) or "error" in value:
        raise EndpointUnavailable(ERROR_INSIDE, is_passing=True)
    return value


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds in `Retry-After`; None for a date, which few servers send, so that the ordinary backoff applies."""
    value = response.headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", value) else None
