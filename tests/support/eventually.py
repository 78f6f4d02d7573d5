"""Waiting for a condition instead of sleeping."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic

INTERVAL_SECONDS = 0.005


def eventually(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Returns as soon as `condition` holds, or fails the test after `seconds`."""
    deadline = monotonic() + seconds
    pause = Event()
    while not condition():
        assert monotonic() < deadline, f"still not the case after {seconds} s"
        pause.wait(INTERVAL_SECONDS)
