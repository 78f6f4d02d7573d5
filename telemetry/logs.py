"""Log lines of a process that runs until it is stopped: for people, or as JSON, and never what anyone said."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from sessions.settings import Settings
from telemetry.failures import describe
from telemetry.tracing import Tracing

OUR_LOGGERS: Final = ("api", "cli", "sessions", "telemetry", "worker")

_FORMATS: Final[dict[str, Callable[[], Processor]]] = {
    "json": structlog.processors.JSONRenderer,
    "text": lambda: structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, pad_level=False),
}


def set_up_logging(settings: Settings, tracing: Tracing) -> None:
    """Our own lines from the level asked for, of the libraries only what is wrong; all of them in one form."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(settings.log_format, tracing))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(settings.log_level.upper())


def formatter(log_format: str, tracing: Tracing) -> logging.Formatter:
    """What makes a line of a record: its time, level and logger, what it says, and what it is about.

    What a line is about are the `extra` of the record, what `about` has bound, and the open trace.
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
    """An exception by its kind and place: its message may quote what it was raised for."""
    information: Any = event.pop("exc_info", None)
    if isinstance(information, tuple) and isinstance(information[1], BaseException):
        event["error"] = describe(information[1])
    return event


about = structlog.contextvars.bound_contextvars
