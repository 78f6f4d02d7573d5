"""Traces by OpenTelemetry, sent as OTLP over HTTP. Needs the extra `tracing`; the module is imported only with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span as OpenSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, format_trace_id, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from foldline.telemetry.tracing import TRACEPARENT, Fact, Place, Span

SEND_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 3.0
KINDS: Final[Mapping[Place, SpanKind]] = {
    "server": SpanKind.SERVER,
    "consumer": SpanKind.CONSUMER,
    "client": SpanKind.CLIENT,
    "internal": SpanKind.INTERNAL,
}


class OpenTelemetry:
    """The tracing of a process with this role; a thread of the exporter sends the spans to `url` in batches."""

    def __init__(self, url: str, role: str) -> None:
        resource = Resource.create({"service.name": f"foldline-{role}", "service.version": version("foldline")})
        # Not OpenTelemetry's global provider: another library in the process may have set it.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS)))
        self._tracer = self._provider.get_tracer("foldline")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self,
        name: str,
        /,
        *,
        place: Place = "internal",
        parent: str | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> Iterator[Span]:
        """See `Tracing`."""
        context = self._propagator.extract({TRACEPARENT: parent}) if parent else None
        with self._tracer.start_as_current_span(
            name,
            context,
            KINDS[place],
            dict(facts or {}),
            # An exception's message may quote a conversation.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            recorded = _RecordedSpan(span)
            try:
                yield recorded
            except BaseException as error:
                recorded.fail(error)
                raise

    @property
    def traceparent(self) -> str | None:
        """See `Tracing`."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(TRACEPARENT)

    @property
    def trace_id(self) -> str | None:
        """See `Tracing`."""
        context = get_current_span().get_span_context()
        return format_trace_id(context.trace_id) if context.is_valid else None

    def close(self) -> None:
        """See `Tracing`. Spans that the collector does not accept within `CLOSE_SECONDS` are lost."""
        closing = Thread(target=self._provider.shutdown, name="foldline-traces", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)


class _RecordedSpan:
    """See `Span`."""

    def __init__(self, span: OpenSpan) -> None:
        self._span = span

    def name(self, name: str) -> None:
        self._span.update_name(name)

    def note(self, facts: Mapping[str, Fact]) -> None:
        self._span.set_attributes(dict(facts))

    def fail(self, error: BaseException) -> None:
        self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))
