"""Which tenants take more than their share of the threads, and for how long that is remembered."""

from __future__ import annotations

from functools import partial
from threading import Event
from time import thread_time

import pytest
from foldline_api.http.bounds.shares import BEYOND_SECONDS, SHARE_SECONDS, WINDOW_SECONDS, Shares

from foldline.active_tenants import ACTIVE_SECONDS
from tests.support.moved_time import MovedTime

GREEDY, OTHER = "greedy", "other"
# So many requests of so long take more than a share, the longest aside.
MANY = 6
STEP_SECONDS = SHARE_SECONDS / 4


@pytest.fixture
def moved() -> MovedTime:
    return MovedTime()


@pytest.fixture
def shares(moved: MovedTime) -> Shares:
    found = Shares(moved)
    found.active.note(OTHER)
    return found


def compute(seconds: float = STEP_SECONDS) -> str:
    """Take so much of a processor; that others take it meanwhile makes no difference."""
    end = thread_time() + seconds
    while thread_time() < end:
        pass
    return "computed"


def fail() -> None:
    compute()
    raise LookupError


def flood(shares: Shares) -> None:
    for _ in range(MANY):
        assert shares.counted(GREEDY, compute)() == "computed"


def test_a_tenant_that_takes_more_than_its_share_is_beyond_it_for_a_minute(shares: Shares, moved: MovedTime) -> None:
    assert not shares.is_beyond(GREEDY)
    flood(shares)
    assert shares.is_beyond(GREEDY)
    assert not shares.is_beyond(OTHER)
    moved.now += BEYOND_SECONDS - 1
    shares.active.note(OTHER)
    assert shares.is_beyond(GREEDY)
    moved.now += 1
    assert not shares.is_beyond(GREEDY)


def test_work_that_fails_counts_too(shares: Shares) -> None:
    for _ in range(MANY):
        with pytest.raises(LookupError):
            shares.counted(GREEDY, fail)()
    assert shares.is_beyond(GREEDY)


def test_one_request_that_takes_long_is_no_flood(shares: Shares) -> None:
    shares.counted(GREEDY, partial(compute, 2 * SHARE_SECONDS))()
    shares.counted(GREEDY, compute)()
    assert not shares.is_beyond(GREEDY)


def test_two_that_take_long_are_one(shares: Shares, moved: MovedTime) -> None:
    shares.counted(GREEDY, partial(compute, 2 * SHARE_SECONDS))()
    moved.now += WINDOW_SECONDS * 0.9
    shares.counted(GREEDY, partial(compute, SHARE_SECONDS))()
    assert shares.is_beyond(GREEDY)


def test_who_waits_takes_nothing(shares: Shares) -> None:
    for _ in range(MANY):
        assert not shares.counted(GREEDY, partial(Event().wait, STEP_SECONDS))()
    assert not shares.is_beyond(GREEDY)


def test_who_takes_as_much_in_several_seconds_takes_less_than_the_share(shares: Shares, moved: MovedTime) -> None:
    for _ in range(2 * MANY):
        shares.counted(GREEDY, compute)()
        moved.now += WINDOW_SECONDS / 3
    assert not shares.is_beyond(GREEDY)


def test_nobody_is_beyond_a_share_while_the_other_process_does_not_work(shares: Shares, moved: MovedTime) -> None:
    flood(shares)
    shares.rest()
    assert not shares.is_beyond(GREEDY)
    moved.now += BEYOND_SECONDS
    shares.active.note(OTHER)
    flood(shares)
    assert shares.is_beyond(GREEDY)


@pytest.mark.parametrize("others", [[], [GREEDY]])
def test_a_tenant_that_asks_alone_may_take_all(moved: MovedTime, others: list[str]) -> None:
    shares = Shares(moved)
    for other in others:
        shares.active.note(other)
    flood(shares)
    # Nor later: what it took then took nothing from anybody.
    shares.active.note(OTHER)
    assert not shares.is_beyond(GREEDY)


def test_nor_is_one_beyond_it_whose_others_have_gone(shares: Shares, moved: MovedTime) -> None:
    moved.now += ACTIVE_SECONDS / 2
    flood(shares)
    assert shares.is_beyond(GREEDY)
    moved.now += ACTIVE_SECONDS / 2
    assert not shares.is_beyond(GREEDY)
