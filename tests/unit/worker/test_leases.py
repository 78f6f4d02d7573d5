"""Extending the leases of jobs while their summaries are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event

import pytest
from foldline_worker.leases import Leases

from foldline.log.jobs.leases import Lease
from tests.support.eventually import eventually

A, B = Lease("job_a", "lease_1"), Lease("job_b", "lease_2")


class Beats:
    """Extends every lease but the lost ones; the first beat may fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.progress: list[dict[Lease, float]] = []
        self.lost: set[Lease] = set()
        self._error = error

    def __call__(self, progress_by_lease: Mapping[Lease, float]) -> set[Lease]:
        self.progress.append(dict(progress_by_lease))
        error, self._error = self._error, None
        if error is not None:
            raise error
        return {*progress_by_lease} - self.lost


@contextmanager
def keeping(beats: Beats, *, lease_seconds: float = 0.02, expected_seconds: float = 1.0) -> Iterator[Leases]:
    stopping = Event()
    leases = Leases(beats, lease_seconds, expected_seconds, stopping)
    leases.start()
    try:
        yield leases
    finally:
        stopping.set()
        assert leases.stop(5)


def test_a_lease_is_extended_with_progress_that_grows_and_stops_short_of_the_end() -> None:
    beats = Beats()
    with keeping(beats, expected_seconds=0.001) as leases, leases.held(A) as cancellation:
        eventually(lambda: len(beats.progress) >= 3)
        assert not cancellation.is_cancelled
    shares = [progress[A] for progress in beats.progress]
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 1


def test_work_that_reports_how_far_it_is_has_that_progress() -> None:
    beats = Beats()
    with keeping(beats, expected_seconds=0.001) as leases, leases.held(A) as cancellation:
        cancellation.share = 0.4
        eventually(lambda: beats.progress[-1:] == [{A: 0.4}])


def test_leases_are_extended_together_and_each_is_lost_alone() -> None:
    beats = Beats()
    with keeping(beats) as leases, leases.held(A) as first, leases.held(B) as second:
        eventually(lambda: {A, B} in [progress.keys() for progress in beats.progress])
        beats.lost.add(A)
        eventually(lambda: first.is_cancelled)
        assert not second.is_cancelled


def test_a_job_that_is_done_is_not_extended_again() -> None:
    beats = Beats()
    with keeping(beats) as leases, leases.held(A):
        with leases.held(B):
            eventually(lambda: B in beats.progress[-1] if beats.progress else False)
        seen = len(beats.progress)
        eventually(lambda: len(beats.progress) >= seen + 2)
        assert B not in beats.progress[-1]


def test_a_failing_database_does_not_cancel_the_work_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    beats = Beats(RuntimeError("gone"))
    with keeping(beats) as leases, leases.held(A) as cancellation:
        eventually(lambda: len(beats.progress) >= 2)
        assert not cancellation.is_cancelled
    assert "leases not extended: RuntimeError" in caplog.text
    assert caplog.records[0].__dict__["job_ids"] == ["job_a"]


def test_a_job_shorter_than_a_beat_costs_no_beat() -> None:
    beats = Beats()
    with keeping(beats, lease_seconds=120) as leases, leases.held(A):
        pass
    assert beats.progress == []


def test_jobs_are_cancelled_at_once_though_a_beat_hangs() -> None:
    hanging, go, stopping = Event(), Event(), Event()

    def hang(progress_by_lease: Mapping[Lease, float]) -> set[Lease]:
        hanging.set()
        go.wait(10)
        return {*progress_by_lease}

    leases = Leases(hang, 0.02, 1.0, stopping)
    leases.start()
    with leases.held(A) as cancellation:
        assert hanging.wait(5)
        stopping.set()
        leases.cancel_all()
        assert cancellation.is_cancelled
        assert not leases.stop(0.01)
    go.set()
    assert leases.stop(5)


def test_a_job_that_is_claimed_after_the_end_is_cancelled() -> None:
    stopping = Event()
    leases = Leases(Beats(), 120, 1.0, stopping)
    stopping.set()
    leases.cancel_all()
    with leases.held(A) as cancellation:
        assert cancellation.is_cancelled
