"""A summarizer that calls the model, and what goes over the wire meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.llm import LLM
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.wires import WIRES, Wire, WireAnswer, WireRequest

from tests.llm.llama_server import LlamaServer

WIRE: Final = WIRES["openai-chat"]
# The server has one model, whatever it is called.
MODEL: Final = "any"
TIMEOUT_SECONDS: Final = 120.0


@dataclass
class Traffic:
    """The requests, the events of the answers, and the texts of refusals."""

    requests: list[WireRequest] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def wire(self) -> Wire:
        """The wire format, as this notes what goes over it."""
        return replace(WIRE, body=self._body, take=self._take, adapted=self._adapted)

    def _body(self, request: WireRequest, options: Mapping[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        return WIRE.body(request, options)

    def _take(self, answer: WireAnswer, event: Mapping[str, Any]) -> None:
        self.events.append(event)
        WIRE.take(answer, event)

    def _adapted(self, text: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.refusals.append(text)
        return WIRE.adapted(text, body)


def client_of(server: LlamaServer, wire: Wire = WIRE) -> ModelClient:
    """A client of the server's model."""
    return ModelClient(wire, base_url=server.base_url, api_key=None, model=MODEL, timeout_seconds=TIMEOUT_SECONDS)


@contextmanager
def summarizer(server: LlamaServer, bounds: Bounds, traffic: Traffic | None = None) -> Iterator[LLM]:
    """A summarizer that calls the model, one call after the other."""
    llm = LLM(client_of(server, traffic.wire if traffic else WIRE), bounds, concurrency=1)
    try:
        yield llm
    finally:
        llm.close()
