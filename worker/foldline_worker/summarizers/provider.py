"""The summarizer that has a model's own provider compact the beginning of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.messages import JsonObject
from foldline.engine.models.compactors import COMPACTORS
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.summaries.provider_block import ProviderCall
from foldline.settings import Settings
from foldline.telemetry.tracing import Silent, Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.calls.endpoint import (
    NOT_JSON,
    TOO_SLOW,
    Endpoint,
    EndpointError,
    EndpointUnavailable,
    error_text,
    texts_in,
    whole_answer,
)
from foldline_worker.summarizers.calls.retries import Retries
from foldline_worker.summarizers.contract import NOTHING_KEPT, ChunkTexts, ProviderDeclined

# What the call may write beside the summary: its reasoning counts, too.
REASONING_TOKENS: Final = 4_096
# Instructions replace the provider's own prompt.
_INSTRUCTIONS: Final = (
    "Summarize the conversation so that you can continue it with nothing but your summary: the user's rules and "
    "requests, decisions, results, names, paths and numbers exactly as they are, and what is still to do. Answer with "
    "the summary alone, and call no tools. What the user wants from this summary: {instructions}"
)
MOST_INSTRUCTIONS_CHARS: Final = 16_384
# Reasons a `ProviderDeclined` gives.
NOTHING_SENT: Final = "there is nothing to send it"
NONE_INSIDE: Final = "its answer has none"
NO_INSTRUCTIONS: Final = "it takes no instructions"
# An answer repeats what the user said, with images. A call that took too long, or whose answer cannot be read, is not
# repeated: it reads the whole conversation each time.
MOST_ANSWER_BYTES: Final = 64 * 1024 * 1024
NOT_REPEATED: Final = frozenset({TOO_SLOW, NOT_JSON})


class ProviderAnswer(NamedTuple):
    """A provider's answer: the messages to send from now on, their readable text if there is any, and the usage.

    `block` is empty if there is no summary in it.
    """

    block: tuple[JsonObject, ...]
    text: str | None
    usage: dict[str, int]


@dataclass(frozen=True, slots=True)
class Api:
    """How a provider is asked for its own compaction: address, headers, the body of the request, and the answer."""

    path: str
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[ProviderCall, SummaryInput], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], ProviderAnswer]


def _anthropic_headers(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": "2023-06-01", **COMPACTORS["anthropic"].request_headers}


def _anthropic_body(call: ProviderCall, request: SummaryInput) -> dict[str, Any]:
    instructions = _INSTRUCTIONS.format(instructions=request.instructions)[:MOST_INSTRUCTIONS_CHARS]
    return {
        "model": call.model,
        "max_tokens": request.max_tokens + REASONING_TOKENS,
        **({} if call.system is None else {"system": call.system}),
        **({"tools": call.tools} if call.tools else {}),
        "messages": call.messages,
        "compaction": {"type": "summarize", **({"instructions": instructions} if request.instructions else {})},
    }


def _anthropic_answer(answer: Mapping[str, Any]) -> ProviderAnswer:
    content = answer.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    text = next((block.get("content") for block in blocks if block.get("type") == "compaction"), None)
    usage = answer.get("usage")
    calls = (usage.get("iterations") or [usage]) if isinstance(usage, dict) else None
    used = _sums([call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else [])
    if answer.get("stop_reason") != "compaction" or not isinstance(text, str):
        return ProviderAnswer((), None, used)
    return ProviderAnswer(({"role": "assistant", "content": content},), text, used)


def _openai_headers(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _openai_body(call: ProviderCall, _request: SummaryInput) -> dict[str, Any]:
    # These instructions are the system prompt.
    system = {} if call.system is None else {"instructions": call.system}
    return {"model": call.model, "input": call.messages, **system}


def _openai_answer(answer: Mapping[str, Any]) -> ProviderAnswer:
    output = answer.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    usage = answer.get("usage")
    used = _sums([usage] if isinstance(usage, dict) else [])
    has_summary = any(item.get("type") == "compaction" for item in items)
    return ProviderAnswer(tuple(items) if has_summary else (), None, used)


def _sums(calls: list[dict[str, Any]]) -> dict[str, int]:
    names = {"input": "input_tokens", "output": "output_tokens"}
    reported = {name: [call.get(theirs) for call in calls] for name, theirs in names.items()}
    return {name: sum(n for n in numbers if isinstance(n, int)) for name, numbers in reported.items() if numbers}


APIS: Final[Mapping[str, Api]] = MappingProxyType(
    {
        "anthropic": Api("v1/messages", _anthropic_headers, _anthropic_body, _anthropic_answer),
        "openai": Api("responses/compact", _openai_headers, _openai_body, _openai_answer),
    }
)


class Provider:
    """Has one provider compact conversations with its own models.

    The conversation is sent as it is, without masking: the provider has it already, and its block stands for exactly
    that.
    """

    def __init__(self, name: str, endpoint: Endpoint, *, tracing: Tracing | None = None) -> None:
        self._name = name
        self._api = APIS[name]
        self._endpoint = endpoint
        self._tracing = tracing or Silent()
        self._retries = Retries()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, _kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`. A text that the provider keeps to itself is replaced by an extractive one, for others."""
        call = request.provider
        if call is None:
            raise ProviderDeclined(self._name, NOTHING_SENT)
        if request.instructions and not COMPACTORS[self._name].takes_instructions:
            # A hook's: the caller's are not sent here.
            raise ProviderDeclined(self._name, NO_INSTRUCTIONS)
        try:
            answer = self._retries.calls(cancellation)(self._compacted, call, request, cancellation)
        except EndpointError as error:
            raise ProviderDeclined(self._name, str(error)) from error
        if not answer.block:
            raise ProviderDeclined(self._name, NONE_INSIDE, answer.usage)
        text = extractive.summarize(request) if answer.text is None else answer.text
        return SummaryDraft(
            text, degraded=False, summarizer=self._name, model=call.model, usage=answer.usage, block=answer.block
        )

    def _compacted(self, call: ProviderCall, request: SummaryInput, cancellation: Cancellation) -> ProviderAnswer:
        body = self._api.body(call, request)
        called = {"gen_ai.operation.name": "compact", "gen_ai.request.model": call.model}
        with (
            self._tracing.span(f"compact {call.model}", place="client", facts=called) as span,
            _not_repeated(),
            self._endpoint.call(cancellation) as under_way,
            self._endpoint.posted(self._api.path, body, under_way) as response,
        ):
            if not response.is_success:
                raise self._endpoint.refused(response, error_text(response), texts_in(body))
            answer = self._api.read(whole_answer(response, MOST_ANSWER_BYTES))
            span.note({f"gen_ai.usage.{direction}_tokens": tokens for direction, tokens in answer.usage.items()})
            return answer


@contextmanager
def _not_repeated() -> Iterator[None]:
    try:
        yield
    except EndpointUnavailable as error:
        if error.reason in NOT_REPEATED:
            raise EndpointUnavailable(error.reason, is_passing=False) from error
        raise


def create(settings: Settings, name: str, tracing: Tracing | None = None) -> Provider:
    """The compactor of this name, which has a key in the settings."""
    key = settings.compactor_keys[name]
    endpoint = Endpoint(
        base_url=getattr(settings, f"{name}_base_url"),
        headers=APIS[name].headers(key),
        key=key,
        timeout_seconds=settings.summarizer_timeout_seconds,
        tracing=tracing,
    )
    return Provider(name, endpoint, tracing=tracing)
