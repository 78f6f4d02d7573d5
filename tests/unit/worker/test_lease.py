"""How a claimed job is held while its summary is written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.eventually import eventually
from worker.lease import Lease

JOB = "job_1"


class Beats:
    """Answers `beat` from a script, and then always yes."""

    def __init__(self, answers: Sequence[bool | Exception]) -> None:
        self.progress: list[float] = []
        self._answers = list(answers)

    def __call__(self, progress: float) -> bool:
        self.progress.append(progress)
        answer = self._answers.pop(0) if self._answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_lease_is_extended_with_progress_that_grows_and_stops_short_of_the_end() -> None:
    beats = Beats([])
    with Lease(beats, lease_seconds=0.02, expected_seconds=0.001, job_id=JOB) as lease:
        eventually(lambda: len(beats.progress) >= 3)
        assert not lease.is_lost
    assert beats.progress == sorted(beats.progress)
    assert 0 < beats.progress[-1] < 1


def test_a_lost_lease_says_so_and_is_not_extended_again() -> None:
    beats = Beats([True, False])
    with Lease(beats, lease_seconds=0.02, expected_seconds=1, job_id=JOB) as lease:
        eventually(lambda: lease.is_lost)
    assert len(beats.progress) == 2


def test_a_failing_database_does_not_end_the_hold_and_is_told_with_the_job(caplog: pytest.LogCaptureFixture) -> None:
    beats = Beats([RuntimeError("gone")])
    with Lease(beats, lease_seconds=0.02, expected_seconds=1, job_id=JOB) as lease:
        eventually(lambda: len(beats.progress) >= 2)
        assert not lease.is_lost
    assert f"lease not extended job_id={JOB}: RuntimeError" in caplog.text


def test_a_job_shorter_than_a_beat_costs_no_beat() -> None:
    beats = Beats([])
    with Lease(beats, lease_seconds=120, expected_seconds=1, job_id=JOB):
        pass
    assert beats.progress == []
