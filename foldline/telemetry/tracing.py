"""The interface of tracing, and an implementation that sends nothing; `opentelemetry` has the one that sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Protocol, TypeAlias

Fact: TypeAlias = str | int | float | bool
Place: TypeAlias = Literal["server", "consumer", "client", "internal"]
# The header of W3C Trace Context with a trace and a span of it.
TRACEPARENT = "traceparent"


class Span(Protocol):
    """An open span."""

    def name(self, name: str) -> None:
        """Change the span's name."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """Add attributes, named as in OpenTelemetry's conventions or `foldline.…`; never text of a conversation."""

    def fail(self, error: BaseException) -> None:
        """Mark the span as failed without an exception leaving its block; only the error's type is recorded."""


class Tracing(Protocol):
    """Makes spans. A thread's open span is the parent of the next one, unless `parent` is given."""

    def span(
        self,
        name: str,
        /,
        *,
        place: Place = "internal",
        parent: str | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> AbstractContextManager[Span]:
        """A context manager that is a span, failed if an exception leaves it; `parent` is a `traceparent` header."""

    @property
    def traceparent(self) -> str | None:
        """The `traceparent` header of the open span, to continue the trace in another process; None without a span."""

    @property
    def trace_id(self) -> str | None:
        """The id of the open span's trace, in hexadecimal; None without a span."""

    def close(self) -> None:
        """Send the spans that are left. Called once, at the end of the process."""


class _NoSpan:
    def name(self, name: str) -> None:
        """See `Span`."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """See `Span`."""

    def fail(self, error: BaseException) -> None:
        """See `Span`."""


class Silent:
    """The tracing of a process that sends no traces."""

    traceparent = None
    trace_id = None

    @contextmanager
    def span(self, _name: str, /, **_options: object) -> Iterator[Span]:
        """See `Tracing`."""
        yield _NO_SPAN

    def close(self) -> None:
        """See `Tracing`; there is nothing to send."""


_NO_SPAN = _NoSpan()
