"""A client of a model in one of the wire formats: streaming if the server can."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Self, TypeAlias

import httpx
from pydantic import SecretStr

from foldline.engine.models.prices import Prices
from foldline.engine.summaries.cached_beginning import CachedBeginning
from foldline.engine.tokens.counter import count_text
from foldline.telemetry.tracing import Silent, Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.calls.connections import EndpointCall
from foldline_worker.summarizers.calls.endpoint import (
    MOST_ANSWER_BYTES,
    Endpoint,
    EndpointUnavailable,
    bounded,
    error_text,
    json_object,
    texts_in,
    whole_answer,
)
from foldline_worker.summarizers.calls.rates import NO_RATES, Rates
from foldline_worker.summarizers.wires import Wire, WireAnswer, WireRequest

DATA: Final = b"data:"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
DONE: Final = b"[DONE]"
CUT: Final = "its answer broke off"
# Only these statuses may refuse an option of the request; a 403 about streaming is about a plan or a region.
_BAD_REQUESTS: Final = frozenset({400, 404, 422})

Spend: TypeAlias = Callable[[Mapping[str, int]], None]


def _spend_nothing(_usage: Mapping[str, int]) -> None:
    """For who has no budget."""


class ModelClient:
    """Calls a model at `base_url`, within `rates`; `timeout_seconds` bounds each call as a whole."""

    def __init__(
        self,
        wire: Wire,
        *,
        base_url: str | None,
        api_key: SecretStr | None,
        model: str,
        timeout_seconds: float,
        tracing: Tracing | None = None,
        rates: Rates = NO_RATES,
        prices: Prices | None = None,
    ) -> None:
        self.model = model
        self.prices = prices
        self._rates = rates
        self._wire = wire
        self._tracing = tracing or Silent()
        # What this server has refused of requests; learned once for all calls.
        self._options: dict[str, Any] = {}
        key = api_key.get_secret_value() if api_key else None
        self._endpoint = Endpoint(
            base_url=base_url or wire.base_url,
            headers=wire.headers(key) if key else {},
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

    def complete(
        self,
        system: str,
        user: str,
        max_tokens: int,
        cancellation: Cancellation,
        beginning: CachedBeginning | None = None,
        *,
        spend: Spend = _spend_nothing,
    ) -> WireAnswer:
        """The model's answer to a prompt, or to the user's text below the beginning of a view.

        `spend` gets the tokens of `input` and `output` that the call cost, also if it fails.

        Raises:
            Cancelled: the work was cancelled; the connection is ended.
            TooLong: prompt and answer exceed the model's context window.
            AnswerTooLong: the model gives no answers of `max_tokens`.
            EndpointUnavailable: no answer, for any other reason.
        """
        request = WireRequest(self.model, system, user, max_tokens, beginning)
        called = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.model}
        self._rates.wait(_prompt_tokens(request) + max_tokens if self._rates.are_of_tokens else 0, cancellation)
        with (
            self._tracing.span(f"chat {self.model}", place="client", facts=called) as span,
            self._endpoint.call(cancellation) as call,
        ):
            answer = self._send(request, call, spend)
            span.note({f"gen_ai.usage.{direction}_tokens": tokens for direction, tokens in answer.usage.items()})
            return answer

    def _send(self, request: WireRequest, call: EndpointCall, spend: Spend) -> WireAnswer:
        body, answer = self._wire.body(request, self._options), WireAnswer()
        try:
            with self._endpoint.posted(self._wire.path(request, self._options), body, call) as response:
                if response.is_success:
                    self._read(response, answer, call)
                    return answer
                text = error_text(response)
        finally:
            if call.has_cost:
                spend(_used(request, answer))
        sent = [request.system, request.user, *texts_in(request.beginning)]
        refused = self._endpoint.refused(response, text, sent)
        adapted = self._wire.adapted(text, body) if response.status_code in _BAD_REQUESTS else None
        if adapted is not None and isinstance(refused, EndpointUnavailable):
            self._options |= adapted
            return self._send(request, call, spend)
        raise refused

    def _read(self, response: httpx.Response, answer: WireAnswer, call: EndpointCall) -> None:
        if not _is_stream(response):
            self._wire.take(answer, whole_answer(response))
            return
        is_over, events = False, _data(response)
        for data in events:
            is_over = data == DONE
            if is_over:
                self._endpoint.finish(events, call)
                break
            self._wire.take(answer, json_object(data))
        if answer.finish_reason is None and not is_over:
            raise EndpointUnavailable(CUT, is_passing=True)


def _prompt_tokens(request: WireRequest) -> int:
    """The tokens of a prompt, by Foldline's count."""
    before = request.beginning.tokens if request.beginning else 0
    return before + count_text(request.system) + count_text(request.user)


def _used(request: WireRequest, answer: WireAnswer) -> dict[str, int]:
    """The tokens that a call used, by Foldline's count where the provider does not say, or not yet say, how many."""
    tokens, written = (answer.usage.get(name, 0) for name in ("input", "output"))
    if not written or answer.finish_reason is None:
        written = max(written, count_text(answer.content))
    return answer.usage | {"input": tokens or _prompt_tokens(request), "output": written}


def _is_stream(response: httpx.Response) -> bool:
    return "event-stream" in response.headers.get("content-type", "")


def _data(response: httpx.Response) -> Iterator[bytes]:
    """The data of a stream's events."""
    for line in _lines(response):
        data = line.removeprefix(DATA).strip() if line.startswith(DATA) else b""
        if data:
            yield data


def _lines(response: httpx.Response) -> Iterator[bytes]:
    pending = bytearray()
    for piece in bounded(response, MOST_ANSWER_BYTES):
        pending += piece
        if _LINE_END.search(piece):
            *complete, rest = _LINE_END.split(bytes(pending))
            yield from complete
            pending = bytearray(rest)
    yield bytes(pending)
