"""Waiting for a condition instead of sleeping."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

INTERVAL_SECONDS = 0.005
# A condition may cost requests to processes that then have less time for what is waited for. After a while it is
# looked at less often, each time after this share of what the wait has taken so far.
SHARE = 0.05
INTERVAL_SECONDS_MAX = 0.1


def eventually(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Returns as soon as `condition` holds, or fails the test after `seconds`."""
    begun = monotonic()
    pause = Event()
    while not condition():
        waited = monotonic() - begun
        assert waited < seconds, f"still not the case after {seconds} s"
        pause.wait(min(max(INTERVAL_SECONDS, SHARE * waited), INTERVAL_SECONDS_MAX))


def eventually_gives(expected: T, read: Callable[[], T], seconds: float = 10.0) -> None:
    """Returns as soon as `read` gives `expected`, or fails the test after `seconds` with what it gave last.

    A probe is answered within a second: on a busy machine, what answers later than that "does not answer".
    """
    begun = monotonic()
    pause = Event()
    while (given := read()) != expected and monotonic() - begun < seconds:
        pause.wait(INTERVAL_SECONDS_MAX)
    assert given == expected
