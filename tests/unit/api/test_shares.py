"""Which tenants take more than their share of the threads, and for how long that is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from time import thread_time
from typing import Any

import pytest
from foldline_api.http.bounds.shares import BEYOND_SECONDS, SHARE, Shares

from foldline.active_tenants import ACTIVE_SECONDS

GREEDY, OTHER = "greedy", "other"
SHARE_SECONDS = SHARE.most / 1_000_000


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
    return Shares(moved)


def compute(seconds: float) -> str:
    """Take so much of a processor; that others take it meanwhile makes no difference."""
    end = thread_time() + seconds
    while thread_time() < end:
        pass
    return "computed"


def fail(seconds: float) -> None:
    compute(seconds)
    raise LookupError


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scenario)


def test_a_tenant_that_takes_more_than_its_share_is_beyond_it_for_a_minute(shares: Shares, moved: Moved) -> None:
    async def scenario() -> None:
        shares.active.note(OTHER)
        assert not shares.is_beyond(GREEDY)
        assert await shares.in_thread(GREEDY, compute, SHARE_SECONDS) == "computed"
        assert shares.is_beyond(GREEDY)
        assert not shares.is_beyond(OTHER)
        moved.now += BEYOND_SECONDS - 1
        shares.active.note(OTHER)
        assert shares.is_beyond(GREEDY)
        moved.now += 1
        assert not shares.is_beyond(GREEDY)

    run(scenario())


def test_work_that_fails_counts_too(shares: Shares) -> None:
    async def scenario() -> None:
        shares.active.note(OTHER)
        with pytest.raises(LookupError):
            await shares.in_thread(GREEDY, fail, SHARE_SECONDS)
        assert shares.is_beyond(GREEDY)

    run(scenario())


def test_several_requests_count_together(shares: Shares) -> None:
    async def scenario() -> None:
        shares.active.note(OTHER)
        await asyncio.gather(*(shares.in_thread(GREEDY, compute, SHARE_SECONDS * 0.9) for _ in range(2)))
        assert shares.is_beyond(GREEDY)

    run(scenario())


def test_nobody_is_beyond_a_share_who_waits_or_takes_less(shares: Shares) -> None:
    async def scenario() -> None:
        shares.active.note(OTHER)
        await shares.in_thread(GREEDY, compute, SHARE_SECONDS / 8)
        assert not shares.is_beyond(GREEDY)

    run(scenario())


@pytest.mark.parametrize("others", [[], [GREEDY]])
def test_a_tenant_that_asks_alone_may_take_all(shares: Shares, others: list[str]) -> None:
    async def scenario() -> None:
        for other in others:
            shares.active.note(other)
        await shares.in_thread(GREEDY, compute, SHARE_SECONDS)
        # Nor later: what it took then took nothing from anybody.
        shares.active.note(OTHER)
        assert not shares.is_beyond(GREEDY)

    run(scenario())


def test_nor_is_one_beyond_it_whose_others_have_gone(shares: Shares, moved: Moved) -> None:
    async def scenario() -> None:
        shares.active.note(OTHER)
        moved.now += ACTIVE_SECONDS / 2
        await shares.in_thread(GREEDY, compute, SHARE_SECONDS)
        assert shares.is_beyond(GREEDY)
        moved.now += ACTIVE_SECONDS / 2
        assert not shares.is_beyond(GREEDY)

    run(scenario())
