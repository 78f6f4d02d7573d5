"""How long a tenant's requests pause that another process answers, after one that took long."""

from __future__ import annotations

import pytest
from foldline_api.http.bounds.pauses import LONG_SECONDS, PAUSE_PER_SECOND, SECONDS_MAX, Pauses

from foldline.active_tenants import ACTIVE_SECONDS, ActiveTenants
from tests.support.moved_time import MovedTime

LARGE, OTHER = "large", "other"
WORK_SECONDS = SECONDS_MAX / PAUSE_PER_SECOND / 4


@pytest.fixture
def time() -> MovedTime:
    return MovedTime()


@pytest.fixture
def pauses(time: MovedTime) -> Pauses:
    return Pauses(ActiveTenants(time), now=time)


def test_a_tenant_leaves_the_service_to_others_for_many_times_as_long_as_it_kept_it(
    pauses: Pauses, time: MovedTime
) -> None:
    pauses.active.note(OTHER)
    pauses.note(LARGE, WORK_SECONDS)
    assert pauses.left(LARGE) == pytest.approx(WORK_SECONDS * PAUSE_PER_SECOND)
    assert pauses.left(OTHER) == 0
    time.now += WORK_SECONDS * PAUSE_PER_SECOND
    assert pauses.left(LARGE) == 0


def test_requests_that_ended_together_count_together_and_no_pause_is_endless(pauses: Pauses) -> None:
    pauses.active.note(OTHER)
    pauses.note(LARGE, WORK_SECONDS)
    one = pauses.left(LARGE)
    pauses.note(LARGE, WORK_SECONDS)
    assert pauses.left(LARGE) == pytest.approx(2 * one)
    pauses.note(LARGE, 1000.0)
    assert pauses.left(LARGE) == SECONDS_MAX


def test_small_requests_pause_for_less_after_a_shorter_one(time: MovedTime) -> None:
    pauses = Pauses(ActiveTenants(time), LONG_SECONDS, time)
    pauses.active.note(OTHER)
    pauses.note(LARGE, LONG_SECONDS / 10)
    assert pauses.left(LARGE) == pytest.approx(LONG_SECONDS * PAUSE_PER_SECOND / 100)
    pauses.note("long", LONG_SECONDS)
    assert pauses.left("long") == pytest.approx(LONG_SECONDS * PAUSE_PER_SECOND)


@pytest.mark.parametrize("others", [[], [LARGE]])
def test_a_tenant_that_asks_alone_does_not_pause(pauses: Pauses, others: list[str]) -> None:
    for other in others:
        pauses.active.note(other)
    pauses.note(LARGE, 1.0)
    assert pauses.left(LARGE) == 0


def test_nor_does_one_whose_others_have_gone(pauses: Pauses, time: MovedTime) -> None:
    pauses.active.note(OTHER)
    time.now += ACTIVE_SECONDS
    pauses.note(LARGE, 1.0)
    assert pauses.left(LARGE) == 0
    pauses.active.note(OTHER)
    pauses.note(LARGE, 1.0)
    assert pauses.left(LARGE) == SECONDS_MAX


def test_a_pause_ends_when_the_others_have_gone(pauses: Pauses, time: MovedTime) -> None:
    pauses.active.note(OTHER)
    time.now += ACTIVE_SECONDS - 1
    pauses.note(LARGE, 1.0)
    assert pauses.left(LARGE) == SECONDS_MAX
    time.now += 1
    assert pauses.left(LARGE) == 0


def test_whoever_else_asked_last_is_remembered_however_often_a_tenant_asks(pauses: Pauses) -> None:
    pauses.active.note("long ago")
    pauses.active.note(OTHER)
    for _ in range(10):
        pauses.active.note(LARGE)
    pauses.note(LARGE, 1.0)
    assert pauses.left(LARGE) == SECONDS_MAX
