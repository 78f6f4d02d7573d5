"""Traces: the port, and the tracing of a process that sends none; `opentelemetry` is the one that does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Protocol, TypeAlias

Fact: TypeAlias = str | int | float | bool
Place: TypeAlias = Literal["server", "consumer", "client", "internal"]
# A trace and a span of it, as W3C Trace Context writes them in a header of this name.
TRACEPARENT = "traceparent"


class Span(Protocol):
    """A piece of work in a trace."""

    def name(self, name: str) -> None:
        """Call it this, now that it is known."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """Add facts by the names of OpenTelemetry's conventions, or below `foldline.`; never what anyone said."""

    def fail(self, error: BaseException) -> None:
        """Say that it failed, where no exception leaves its block; of the error only its kind is told."""


class Tracing(Protocol):
    """Where spans go. The open span of a thread is the parent of the next one in it, unless another is named."""

    def span(
        self,
        name: str,
        /,
        *,
        place: Place = "internal",
        parent: str | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> AbstractContextManager[Span]:
        """A block that is a span, failed if an exception leaves it; `parent` is a `traceparent`."""

    @property
    def traceparent(self) -> str | None:
        """The open span, for whoever goes on with its work elsewhere; None if there is none."""

    @property
    def trace_id(self) -> str | None:
        """The trace of the open span, in hexadecimal; None if there is none."""

    def close(self) -> None:
        """Send what is left. Called once, at the end of the process."""


class _NoSpan:
    def name(self, name: str) -> None:
        """See `Span`."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """See `Span`."""

    def fail(self, error: BaseException) -> None:
        """See `Span`."""


class Silent:
    """Sends nothing."""

    traceparent = None
    trace_id = None

    @contextmanager
    def span(self, _name: str, /, **_options: object) -> Iterator[Span]:
        """See `Tracing`."""
        yield _NO_SPAN

    def close(self) -> None:
        """See `Tracing`; there is nothing to send."""


_NO_SPAN = _NoSpan()
