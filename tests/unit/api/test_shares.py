"""Which tenants take more than their share of the threads, and for how long that is remembered."""

from __future__ import annotations

from threading import Event
from time import thread_time

import pytest
from foldline_api.http.bounds.shares import (
    BEYOND_SECONDS,
    REQUEST_SECONDS_MAX,
    SHARE_SECONDS,
    WINDOW_SECONDS,
    Shares,
)

from foldline.active_tenants import ACTIVE_SECONDS

GREEDY, OTHER = "greedy", "other"
# So many requests, each of which counts as much as one can.
MANY = int(SHARE_SECONDS / REQUEST_SECONDS_MAX) + 1


class Moved:
    """Seconds, which are moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def moved() -> Moved:
    return Moved()


@pytest.fixture
def shares(moved: Moved) -> Shares:
    found = Shares(moved)
    found.active.note(OTHER)
    return found


def compute() -> str:
    """Take as much of a processor as counts; that others take it meanwhile makes no difference."""
    end = thread_time() + REQUEST_SECONDS_MAX
    while thread_time() < end:
        pass
    return "computed"


def fail() -> None:
    compute()
    raise LookupError


def flood(shares: Shares) -> None:
    for _ in range(MANY):
        assert shares.counted(GREEDY, compute)() == "computed"


def test_a_tenant_that_takes_more_than_its_share_is_beyond_it_for_a_minute(shares: Shares, moved: Moved) -> None:
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
    shares.counted(GREEDY, lambda: [compute() for _ in range(MANY)])()
    assert not shares.is_beyond(GREEDY)


def test_who_waits_takes_nothing(shares: Shares) -> None:
    for _ in range(MANY):
        assert not shares.counted(GREEDY, lambda: Event().wait(REQUEST_SECONDS_MAX))()
    assert not shares.is_beyond(GREEDY)


def test_who_takes_as_much_in_several_seconds_takes_less_than_the_share(shares: Shares, moved: Moved) -> None:
    for _ in range(2 * MANY):
        shares.counted(GREEDY, compute)()
        moved.now += WINDOW_SECONDS / (MANY - 2)
    assert not shares.is_beyond(GREEDY)


@pytest.mark.parametrize("others", [[], [GREEDY]])
def test_a_tenant_that_asks_alone_may_take_all(moved: Moved, others: list[str]) -> None:
    shares = Shares(moved)
    for other in others:
        shares.active.note(other)
    flood(shares)
    # Nor later: what it took then took nothing from anybody.
    shares.active.note(OTHER)
    assert not shares.is_beyond(GREEDY)


def test_nor_is_one_beyond_it_whose_others_have_gone(shares: Shares, moved: Moved) -> None:
    moved.now += ACTIVE_SECONDS / 2
    flood(shares)
    assert shares.is_beyond(GREEDY)
    moved.now += ACTIVE_SECONDS / 2
    assert not shares.is_beyond(GREEDY)
