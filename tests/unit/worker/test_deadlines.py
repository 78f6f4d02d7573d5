"""Deadlines for whole calls."""

from __future__ import annotations

import threading
from threading import Event

from foldline_worker.summarizers.calls.deadlines import Deadlines

from tests.support.eventually import eventually


def test_what_is_overdue_is_ended_and_what_is_not_goes_on() -> None:
    deadlines, short, long = Deadlines(), Event(), Event()
    with deadlines.within(0.05, short.set), deadlines.within(60, long.set):
        assert short.wait(5)
        assert not long.is_set()
    deadlines.close()


def test_what_ended_in_time_is_left_alone() -> None:
    deadlines, early, late = Deadlines(), Event(), Event()
    with deadlines.within(0.3, early.set):
        pass
    with deadlines.within(0.6, late.set):
        assert late.wait(5)
    assert not early.is_set()
    deadlines.close()


def test_closing_ends_the_thread() -> None:
    deadlines = Deadlines()
    with deadlines.within(60, lambda: None):
        assert "foldline-deadlines" in threads()
    deadlines.close()
    eventually(lambda: "foldline-deadlines" not in threads())
    deadlines.close()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate()]
