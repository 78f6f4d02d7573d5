"""One answer of an OpenAI-compatible chat endpoint, over HTTP: streamed if the server can, bounded, and cancellable.

Texts and keys are never logged and stand in no error; of what a provider says only a cleaned excerpt does.
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
# An answer is a few thousand tokens; whatever is longer is no summary.
MOST_ANSWER_BYTES: Final = 8 * 1024 * 1024
MOST_ERROR_BYTES: Final = 64 * 1024
MOST_NAME_CHARS: Final = 200
# The HTTP client's name for it.
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

# Only these refuse an option of the request; a 403 that speaks of streaming is about a plan or a region.
_BAD_REQUESTS: Final = frozenset({400, 404, 422})
# A word of its own: proxies speak of their upstream.
_STREAM: Final = re.compile(r"\bstream(?:ing|_options)?\b", re.IGNORECASE)
MAX_TOKENS: Final = "max_tokens"
MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"


class ChatError(Exception):
    """Root of why there is no answer: `EndpointUnavailable`, `InputTooLong`."""


class EndpointUnavailable(ChatError):
    """The endpoint gave no answer; `is_passing` if another try may get one, `retry_after_seconds` if it said when."""

    def __init__(self, reason: str, *, is_passing: bool, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.retry_after_seconds = retry_after_seconds


class InputTooLong(ChatError):
    """The endpoint refused the prompt as longer than its model's context window."""


@dataclass(slots=True)
class ChatAnswer:
    """What the model said, and how it ended; an answer that broke off has no finish reason."""

    content: str = ""
    finish_reason: str | None = None
    has_tool_calls: bool = False
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict)

    def take(self, chunk: dict[str, Any]) -> None:
        """Adds one chunk of a stream, or a whole answer that came at once."""
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
    """A name as the database takes it and people read it; anything else is none."""
    return value if isinstance(value, str) and value.isprintable() and len(value) <= MOST_NAME_CHARS else None


class Connection:
    """The socket of a call, kept so that another thread can end it: closing alone would not wake a waiting read."""

    def __init__(self) -> None:
        self.is_cut = False
        self._sockets: list[socket.socket] = []

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Told by the HTTP client of each step."""
        if event == CONNECTED:
            # A second handle on what lies under TLS: the one in use would go on without encryption.
            self._sockets.append(info["return_value"].get_extra_info("socket").dup())
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """Ends the connection; a read that waits on it returns at once."""
        self.is_cut = True
        for handle in list(self._sockets):
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Lets go of what was kept; the HTTP client closes its own."""
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
            # Each call has a connection of its own, so that ending one ends nothing else; summaries are seconds apart.
            # How many there are at a time is the worker's to say.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()
        self._deadlines.close()

    def complete(self, messages: list[dict[str, str]], max_tokens: int, cancellation: Cancellation) -> ChatAnswer:
        """The model's answer to the chat messages.

        Raises:
            Cancelled: nobody wants it any more; the connection is ended.
            InputTooLong: the prompt exceeds the model's context window.
            Unavailable: no answer, for any other reason.
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
        """The connection of a call, which is cut when the call is cancelled or overdue."""
        connection = Connection()
        try:
            with (
                closing(connection),
                cancellation.ending(connection.cut),
                self._deadlines.within(self._timeout_seconds, connection.cut),
            ):
                yield connection
        finally:
            # Whatever came of it: a connection that was cut looks like an error, or like the end of the answer.
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
        """Whether the refusal names an option in `body` that can be had otherwise, as it will be from now on."""
        if status not in _BAD_REQUESTS:
            return False
        if MAX_TOKENS in body and MAX_COMPLETION_TOKENS in text:
            self._limit_name = MAX_COMPLETION_TOKENS
            return True
        if "stream" in body and _STREAM.search(text):
            # Some servers know no streaming, or not its options: they are asked for the answer in one piece.
            self._streams = False
            return True
        return False

    def _refused(self, response: httpx.Response, text: str, messages: list[dict[str, str]]) -> ChatError:
        status = response.status_code
        if status in _OVERFLOW_STATUSES and verdict_of(text).is_overflow:
            return InputTooLong(f"HTTP {status}")
        # What is wrong with the request is for the user to put right; a failing server's own words are not.
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
    """The data of a stream's events, up to its end mark."""
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
    """The body in pieces, cut off after about `most` bytes."""
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
    """The pause the server asks for in seconds; a date, which few send, is left to the ordinary backoff."""
    value = response.headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", value) else None
