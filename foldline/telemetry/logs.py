"""Logging of a long-running process, as text or JSON. No line quotes a conversation, a key, or an error's message."""

from __future__ import annotations

import logging
from collections.abc import Callable
from traceback import extract_tb
from types import TracebackType
from typing import Any, Final

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from foldline.settings import Settings
from foldline.telemetry.tracing import Tracing

FRAMES_SHOWN: Final = 3


def describe(error: BaseException) -> str:
    """The error's type, cause and innermost frames, without its message, which may quote a conversation.

    For example `Unavailable from TimeoutError at store.py:80 in write < jobs.py:41 in claim`.
    """
    frames = extract_tb(error.__traceback__)[-FRAMES_SHOWN:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}" for frame in reversed(frames)]
    kinds = type(error).__name__ + (f" from {type(error.__cause__).__name__}" if error.__cause__ else "")
    return f"{kinds} at {' < '.join(places)}" if places else kinds


class Contained:
    """A context manager that passes any `Exception` to `on_error` instead of raising it."""

    def __init__(self, on_error: Callable[[Exception], object]) -> None:
        self._on_error = on_error

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._on_error(error)
        return True


OUR_LOGGERS: Final = ("foldline", "foldline_api", "foldline_worker")

_FORMATS: Final[dict[str, Callable[[], Processor]]] = {
    "json": structlog.processors.JSONRenderer,
    "text": lambda: structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, pad_level=False),
}


def set_up_logging(settings: Settings, tracing: Tracing) -> None:
    """Log Foldline's lines from the level in the settings, and the libraries' warnings, all in one format."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(settings.log_format, tracing))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(settings.log_level.upper())


def formatter(log_format: str, tracing: Tracing) -> logging.Formatter:
    """The formatter of log records: time, level, logger, message and context.

    The context is the record's `extra`, the values bound with `about`, and the id of the current trace.
    """

    def add_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        if tracing.trace_id is not None:
            event["trace_id"] = tracing.trace_id
        return event

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso"),
            add_trace,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _described,
            _FORMATS[log_format](),
        ],
    )


def _described(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replaces an exception by its type and place: its message may quote a conversation."""
    information: Any = event.pop("exc_info", None)
    if isinstance(information, tuple) and isinstance(information[1], BaseException):
        event["error"] = describe(information[1])
    return event


about = structlog.contextvars.bound_contextvars
