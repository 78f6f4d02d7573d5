"""A client of an OpenAI-compatible chat endpoint: streaming if the server can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Self

import httpx
from pydantic import SecretStr

from foldline.telemetry.tracing import Silent, Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.endpoint import (
    MOST_ANSWER_BYTES,
    Connection,
    Endpoint,
    EndpointUnavailable,
    bounded,
    error_text,
    json_object,
    whole_answer,
)

MOST_NAME_CHARS: Final = 200
DATA: Final = b"data:"
DONE: Final = b"[DONE]"

# Only these statuses may refuse an option of the request; a 403 about streaming is about a plan or a region.
_BAD_REQUESTS: Final = frozenset({400, 404, 422})
# As a word of its own: proxies mention their upstream.
_STREAM: Final = re.compile(r"\bstream(?:ing|_options)?\b", re.IGNORECASE)
MAX_TOKENS: Final = "max_tokens"
MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"


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
        self._streams = True
        self._limit_name = MAX_TOKENS
        key = api_key.get_secret_value() if api_key else None
        self._endpoint = Endpoint(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            key=key,
            timeout_seconds=timeout_seconds,
            tracing=tracing,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def complete(self, messages: list[dict[str, str]], max_tokens: int, cancellation: Cancellation) -> ChatAnswer:
        """The model's answer to the chat messages.

        Raises:
            Cancelled: the work was cancelled; the connection is ended.
            TooLong: prompt and answer exceed the model's context window.
            AnswerTooLong: the model gives no answers of `max_tokens`.
            EndpointUnavailable: no answer, for any other reason.
        """
        called = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.model}
        with (
            self._tracing.span(f"chat {self.model}", place="client", facts=called) as span,
            self._endpoint.connection(cancellation) as connection,
        ):
            answer = self._send(messages, max_tokens, connection)
            span.note({f"gen_ai.usage.{direction}_tokens": tokens for direction, tokens in answer.usage.items()})
            return answer

    def _send(self, messages: list[dict[str, str]], max_tokens: int, connection: Connection) -> ChatAnswer:
        body = self._body(messages, max_tokens)
        with self._endpoint.posted("chat/completions", body, connection) as response:
            if response.is_success:
                return _read_answer(response)
            text = error_text(response)
        refused = self._endpoint.refused(response, text, (message["content"] for message in messages))
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


def _read_answer(response: httpx.Response) -> ChatAnswer:
    answer = ChatAnswer()
    if "event-stream" in response.headers.get("content-type", ""):
        for event in _events(response):
            answer.take(json_object(event))
    else:
        answer.take(whole_answer(response))
    return answer


def _events(response: httpx.Response) -> Iterator[bytes]:
    """The data of a stream's events, up to `[DONE]`."""
    pending = b""
    for piece in bounded(response, MOST_ANSWER_BYTES):
        *complete, pending = (pending + piece).split(b"\n")
        for line in complete:
            data = line.strip().removeprefix(DATA).strip() if line.startswith(DATA) else b""
            if data == DONE:
                return
            if data:
                yield data
