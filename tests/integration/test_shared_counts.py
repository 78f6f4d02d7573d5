"""What tenants ask of several processes is counted together at the broker, and by each alone while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from time import perf_counter

import pytest
from foldline_api.http.bounds.shared_counts import ALONE_SECONDS, UNSHARED_PART, Limit, SharedCounts

from stack.services.servers import BackingService, valkey
from tests.support.moved_time import MovedTime

# No second passes in the middle of a test.
RATE = Limit("rate", 3, 3600)
DAY_SECONDS = 86_400
BUDGET = Limit("budget", 100, DAY_SECONDS)
# The machine may be busy, and only a broker that is frozen must take longer.
ANSWER_SECONDS = 1.0


@pytest.fixture(scope="module")
def broker() -> Iterator[BackingService]:
    with valkey(is_own=True) as service:
        yield service


def with_counts(url: str, number: int, work: Callable[..., Awaitable[None]]) -> None:
    """Do work with the counts of so many processes, and their stopwatch."""

    async def main() -> None:
        watch = MovedTime(0)
        counts = [SharedCounts(url, watch, ANSWER_SECONDS) for _ in range(number)]
        try:
            await work(*counts, watch)
        finally:
            for each in counts:
                await each.close()

    asyncio.run(main())


async def is_spent_by(counts: SharedCounts, budget: Limit, name: str, amount: int) -> bool:
    """Whether a process finds a budget spent once it has spent this amount."""
    await counts.spend(budget, name, amount)
    return 0 < counts.spent_seconds(budget, name) <= DAY_SECONDS


def test_processes_with_one_broker_share_rates_and_budgets(broker: BackingService) -> None:
    async def work(first: SharedCounts, second: SharedCounts, _watch: MovedTime) -> None:
        assert [await counts.take(RATE, "shared") for counts in (first, second, first, second)] == [True] * 3 + [False]
        assert await first.take(RATE, "another")
        assert not await is_spent_by(first, BUDGET, "shared", 60)
        assert await is_spent_by(second, BUDGET, "shared", 60)
        assert await is_spent_by(first, BUDGET, "shared", 2)
        assert not await is_spent_by(second, BUDGET, "another", 2)

    with_counts(broker.url, 2, work)


def test_what_a_process_does_not_share_is_a_small_part_of_a_limit(broker: BackingService) -> None:
    async def work(first: SharedCounts, second: SharedCounts, _watch: MovedTime) -> None:
        rate = Limit("large rate", 4 * UNSHARED_PART, 3600)
        taken = [await counts.take(rate, "ann") for _ in range(rate.most) for counts in (first, second)]
        assert rate.most <= sum(taken) <= rate.most * (1 + 2 / UNSHARED_PART)
        budget = Limit("large budget", 10 * UNSHARED_PART, DAY_SECONDS)
        spent = [
            await is_spent_by(counts, budget, "ann", 5) for _ in range(2 * UNSHARED_PART) for counts in (first, second)
        ]
        assert budget.most <= (spent.index(True) + 1) * 5 <= budget.most * (1 + 4 / UNSHARED_PART)

    with_counts(broker.url, 2, work)


@pytest.mark.parametrize("url", ["memory://", "redis://127.0.0.1:9/0"])
def test_without_a_broker_that_answers_each_process_counts_alone(url: str) -> None:
    async def work(first: SharedCounts, second: SharedCounts, _watch: MovedTime) -> None:
        assert [await first.take(RATE, "ann") for _ in range(4)] == [True, True, True, False]
        assert await second.take(RATE, "ann")
        assert [await is_spent_by(first, BUDGET, "ann", 50) for _ in range(2)] == [False, True]
        assert not await is_spent_by(second, BUDGET, "ann", 50)

    with_counts(url, 2, work)


def test_a_budget_that_was_spent_begins_anew_when_its_day_is_over() -> None:
    async def work(counts: SharedCounts, watch: MovedTime) -> None:
        assert await is_spent_by(counts, BUDGET, "ann", 100)
        watch.now += DAY_SECONDS - 1
        assert counts.spent_seconds(BUDGET, "ann") == 1
        watch.now += 1
        assert counts.spent_seconds(BUDGET, "ann") == 0

    with_counts("memory://", 1, work)


def test_a_frozen_broker_holds_up_one_request_for_a_moment_and_is_tried_again(
    broker: BackingService, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(counts: SharedCounts, watch: MovedTime) -> None:
        assert [await counts.take(RATE, "frozen") for _ in range(3)] == [True, True, True]
        broker.freeze()
        try:
            waits = []
            for _ in range(3):
                began = perf_counter()
                assert await counts.take(RATE, "frozen")
                waits.append(perf_counter() - began)
            assert ANSWER_SECONDS <= sum(waits) < 2 * ANSWER_SECONDS
            assert not await counts.take(RATE, "frozen")
            assert [record.levelname for record in caplog.records if record.name == SharedCounts.__module__] == [
                "WARNING"
            ]
        finally:
            broker.thaw()
        watch.now += ALONE_SECONDS
        # The broker has its own three.
        assert not await counts.take(RATE, "frozen")
        assert await counts.take(RATE, "thawed")

    with_counts(broker.url, 1, work)


def test_a_broker_that_is_killed_and_comes_back_counts_again(broker: BackingService) -> None:
    async def work(first: SharedCounts, second: SharedCounts, watch: MovedTime) -> None:
        assert await first.take(RATE, "killed")
        broker.kill()
        assert [await first.take(RATE, "killed") for _ in range(4)] == [True, True, True, False]
        broker.restart()
        watch.now += ALONE_SECONDS
        assert [await counts.take(RATE, "killed") for counts in (first, second, first, second)] == [True] * 3 + [False]

    with_counts(broker.url, 2, work)
