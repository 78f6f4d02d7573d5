import json
import logging
from io import StringIO
from typing import Any

import pytest

from foldline.telemetry.logs import about, formatter
from foldline.telemetry.tracing import Silent

SECRET = "what a user said"


class Traced(Silent):
    """A process with an open trace."""

    trace_id = "0af7651916cd43dd8448eb211c80319c"  # type: ignore[assignment]


def logged(log_format: str, *args: Any, tracing: Silent | None = None, **options: Any) -> str:
    """The log line for these arguments."""
    with StringIO() as stream:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter(log_format, tracing or Silent()))
        logger = logging.getLogger("foldline_worker.tasks")
        logger.addHandler(handler)
        try:
            logger.warning(*args, **options)
        finally:
            logger.removeHandler(handler)
        return stream.getvalue()


def test_a_line_of_json_says_what_it_is_about() -> None:
    with about(session_id="s", job_id="job_a"):
        line = json.loads(logged("json", "job %s", "failed", extra={"hook": "h"}, tracing=Traced()))
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "job failed",
        "level": "warning",
        "logger": "foldline_worker.tasks",
        "session_id": "s",
        "job_id": "job_a",
        "hook": "h",
        "trace_id": Traced.trace_id,
    }


def test_a_line_for_people_says_the_same() -> None:
    with about(session_id="s"):
        line = logged("text", "job %s", "failed", extra={"hook": "h"})
    assert line.count("\n") == 1
    assert "[warning] job failed" in line
    assert "session_id=s" in line
    assert "hook=h" in line


def test_a_line_outside_of_a_trace_has_no_trace() -> None:
    assert "trace_id" not in logged("json", "ready")


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_an_exception_is_logged_by_its_kind_and_place_and_not_quoted(log_format: str) -> None:
    with pytest.raises(ValueError, match=SECRET) as raised:
        int(SECRET)
    line = logged(log_format, "it broke", exc_info=raised.value)
    assert "ValueError at test_logs.py:" in line
    assert SECRET not in line
