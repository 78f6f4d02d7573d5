"""An OpenTelemetry collector on loopback, which takes traces by OTLP over HTTP and keeps the spans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class KeptSpan:
    """A span as it arrived; ids are hexadecimal, `parent_id` is empty for the first of a trace."""

    service: str
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    is_failed: bool
    facts: dict[str, Any]
    text: str


@dataclass(slots=True)
class Collector:
    """What was sent to `url` so far."""

    url: str
    spans: list[KeptSpan] = field(default_factory=list)

    def named(self, name: str) -> list[KeptSpan]:
        return [span for span in self.spans if span.name == name]

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            service = _facts(resource.resource.attributes)["service.name"]
            self.spans += [_kept(service, span) for scope in resource.scope_spans for span in scope.spans]


def _kept(service: str, span: Any) -> KeptSpan:
    return KeptSpan(
        service,
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.status.code == span.status.STATUS_CODE_ERROR,
        _facts(span.attributes),
        str(span),
    )


def _facts(attributes: Any) -> dict[str, Any]:
    return {fact.key: getattr(fact.value, fact.value.WhichOneof("value")) for fact in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector, which ends with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}/v1/traces")
    vars(server)["collector"] = collector
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = decompress(body)
        vars(self.server)["collector"].take(body)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is said."""
