"""How long a tenant's requests pause that another process answers, after they kept SQLite's one writer."""

from __future__ import annotations

import pytest

from foldline.active_tenants import ACTIVE_SECONDS
from foldline.log.storage.pauses import LONG_SECONDS, PAUSE_PER_SECOND, SECONDS_MAX, Pauses
from tests.support.moved_time import MovedTime

LARGE, OTHER = "large", "other"
TURN_SECONDS = LONG_SECONDS / 2


@pytest.fixture
def time() -> MovedTime:
    return MovedTime()


@pytest.fixture
def pauses(time: MovedTime) -> Pauses:
    return Pauses(time)


def test_a_tenant_leaves_the_writer_to_others_for_many_times_as_long_as_it_kept_it(
    pauses: Pauses, time: MovedTime
) -> None:
    pauses.begin(OTHER)
    pauses.end_lent(LARGE, TURN_SECONDS)
    assert pauses.of_large(LARGE) == pytest.approx(TURN_SECONDS * PAUSE_PER_SECOND)
    assert pauses.of_large(OTHER) == 0
    time.now += TURN_SECONDS * PAUSE_PER_SECOND
    assert pauses.of_large(LARGE) == 0


def test_the_turns_of_one_request_count_together_and_no_pause_is_endless(pauses: Pauses) -> None:
    pauses.begin(OTHER)
    pauses.end_lent(LARGE, LONG_SECONDS / 4)
    one = pauses.of_large(LARGE)
    pauses.end_lent(LARGE, LONG_SECONDS / 4)
    assert pauses.of_large(LARGE) == pytest.approx(2 * one)
    pauses.end_lent(LARGE, 1000.0)
    assert pauses.of_large(LARGE) == SECONDS_MAX


def test_small_requests_pause_for_less_after_a_shorter_turn(pauses: Pauses) -> None:
    pauses.begin(OTHER)
    pauses.end_lent(LARGE, LONG_SECONDS / 10)
    assert pauses.of_large(LARGE) == pytest.approx(LONG_SECONDS * PAUSE_PER_SECOND / 10)
    assert pauses.of_small(LARGE) == pytest.approx(LONG_SECONDS * PAUSE_PER_SECOND / 100)
    pauses.end_lent(LARGE, TURN_SECONDS)
    assert 0 < pauses.of_small(LARGE) < pauses.of_large(LARGE)


@pytest.mark.parametrize("others", [[], [LARGE], [""], ["", LARGE]])
def test_a_tenant_that_writes_alone_does_not_pause(pauses: Pauses, others: list[str]) -> None:
    for other in others:
        pauses.begin(other)
    pauses.end_lent(LARGE, 1.0)
    assert pauses.of_large(LARGE) == 0


def test_nor_does_one_whose_others_have_gone(pauses: Pauses, time: MovedTime) -> None:
    pauses.begin(OTHER)
    time.now += ACTIVE_SECONDS
    pauses.end_lent(LARGE, 1.0)
    assert pauses.of_large(LARGE) == 0
    pauses.begin(OTHER)
    pauses.end_lent(LARGE, 1.0)
    assert pauses.of_large(LARGE) == SECONDS_MAX


def test_a_pause_ends_when_the_others_have_gone(pauses: Pauses, time: MovedTime) -> None:
    pauses.begin(OTHER)
    time.now += ACTIVE_SECONDS - 1
    pauses.end_lent(LARGE, 1.0)
    assert pauses.of_large(LARGE) == SECONDS_MAX
    time.now += 1
    assert pauses.of_large(LARGE) == 0


def test_whoever_else_wrote_last_is_remembered_however_often_a_tenant_writes(pauses: Pauses) -> None:
    pauses.begin("long ago")
    pauses.begin(OTHER)
    for _ in range(10):
        pauses.begin(LARGE)
    pauses.end_lent(LARGE, 1.0)
    assert pauses.of_large(LARGE) == SECONDS_MAX
