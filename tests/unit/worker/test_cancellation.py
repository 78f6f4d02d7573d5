"""Cancelling work that runs or waits."""

from __future__ import annotations

from threading import Timer
from time import monotonic

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled


def test_work_goes_on_until_it_is_cancelled() -> None:
    cancellation = Cancellation()
    cancellation.check()
    cancellation.wait(0.001)
    cancellation.cancel()
    assert cancellation.is_cancelled
    with pytest.raises(Cancelled):
        cancellation.check()


def test_a_pause_ends_when_it_is_cancelled() -> None:
    cancellation = Cancellation()
    Timer(0.05, cancellation.cancel).start()
    begun = monotonic()
    with pytest.raises(Cancelled):
        cancellation.wait(30)
    assert monotonic() - begun < 5


def test_what_the_work_waits_for_is_ended_while_it_does() -> None:
    ended: list[str] = []
    cancellation = Cancellation()
    with cancellation.ending(lambda: ended.append("before")):
        pass
    with cancellation.ending(lambda: ended.append("during")):
        cancellation.cancel()
    assert ended == ["during"]


def test_nothing_is_begun_after_a_cancellation() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled), cancellation.ending(lambda: None):
        pytest.fail("the block was entered")
