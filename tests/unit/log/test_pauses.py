"""How long a tenant's large requests pause after they kept SQLite's one writer."""

from __future__ import annotations

import pytest

from foldline.log.storage.pauses import ACTIVE_SECONDS, SECONDS_MAX, TIMES, Pauses

LARGE, OTHER = "large", "other"
SHORT_SECONDS = 0.01


class Time:
    """Seconds, which are moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pauses(time: Time) -> Pauses:
    return Pauses(time)


def test_a_tenant_leaves_the_writer_to_others_for_many_times_as_long_as_it_kept_it(pauses: Pauses, time: Time) -> None:
    pauses.begin(OTHER)
    pauses.end_large(LARGE, SHORT_SECONDS)
    assert pauses.seconds(LARGE) == pytest.approx(SHORT_SECONDS * TIMES)
    assert pauses.seconds(OTHER) == 0
    time.now += SHORT_SECONDS * TIMES
    assert pauses.seconds(LARGE) == 0


def test_the_turns_of_one_request_count_together_and_no_pause_is_endless(pauses: Pauses) -> None:
    pauses.begin(OTHER)
    pauses.end_large(LARGE, SHORT_SECONDS)
    pauses.end_large(LARGE, SHORT_SECONDS)
    assert pauses.seconds(LARGE) == pytest.approx(2 * SHORT_SECONDS * TIMES)
    pauses.end_large(LARGE, 1000.0)
    assert pauses.seconds(LARGE) == SECONDS_MAX


@pytest.mark.parametrize("others", [[], [LARGE], [""], ["", LARGE]])
def test_a_tenant_that_writes_alone_does_not_pause(pauses: Pauses, others: list[str]) -> None:
    for other in others:
        pauses.begin(other)
    pauses.end_large(LARGE, 1.0)
    assert pauses.seconds(LARGE) == 0


def test_nor_does_one_whose_others_have_gone(pauses: Pauses, time: Time) -> None:
    pauses.begin(OTHER)
    pauses.end_large(LARGE, 1.0)
    time.now += ACTIVE_SECONDS
    assert pauses.seconds(LARGE) == 0
    pauses.begin(OTHER)
    assert pauses.seconds(LARGE) == SECONDS_MAX - ACTIVE_SECONDS


def test_whoever_else_wrote_last_is_remembered_however_often_a_tenant_writes(pauses: Pauses) -> None:
    pauses.begin("long ago")
    pauses.begin(OTHER)
    for _ in range(10):
        pauses.begin(LARGE)
    pauses.end_large(LARGE, 1.0)
    assert pauses.seconds(LARGE) == SECONDS_MAX


def test_others_that_waited_for_a_long_turn_have_not_gone(pauses: Pauses, time: Time) -> None:
    pauses.begin(OTHER)
    pauses.begin(LARGE)
    time.now += 2 * ACTIVE_SECONDS
    pauses.end_large(LARGE, 2 * ACTIVE_SECONDS)
    pauses.begin(OTHER)
    assert pauses.seconds(LARGE) == SECONDS_MAX
