"""A tenant whose large requests pause keeps no place from the others, nor from its own that do not pause."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest
from foldline_api.http.bounds import places as places_module
from foldline_api.http.bounds.pauses import SECONDS_MAX, Pauses
from foldline_api.http.bounds.places import FairPlaces

from foldline.active_tenants import ActiveTenants

PAUSING, OTHER = "pausing", "other"
PATIENCE_SECONDS = 20


class Sleeping:
    """Sleeps that end when the test says so; `steps` has one for each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.began, self.end = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(places_module, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.steps.append("slept")
        if seconds:
            self.began.set()
            await self.end.wait()


@pytest.fixture
def sleeping(monkeypatch: pytest.MonkeyPatch) -> Sleeping:
    return Sleeping(monkeypatch)


@pytest.fixture
def pauses() -> Pauses:
    """One tenant pauses, and another does not."""
    pauses = Pauses(ActiveTenants())
    pauses.active.note(OTHER)
    pauses.note(PAUSING, SECONDS_MAX)
    return pauses


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, PATIENCE_SECONDS))


def test_while_a_tenants_writing_requests_pause_all_others_go_on(sleeping: Sleeping, pauses: Pauses) -> None:
    order: list[str] = []
    places = FairPlaces(1, pauses=pauses)

    async def request(tenant: str, name: str, *, writes: bool = True) -> None:
        async with places.one(tenant, pauses=writes):
            order.append(name)

    async def scenario() -> None:
        writing = asyncio.create_task(request(PAUSING, "writes"))
        await sleeping.began.wait()
        await request(OTHER, "another tenant")
        await request(PAUSING, "does not write", writes=False)
        sleeping.end.set()
        await writing

    run(scenario())
    assert order == ["another tenant", "does not write", "writes"]


@pytest.mark.parametrize("is_alone", [True, False])
def test_each_request_of_a_tenant_pauses_when_those_before_it_have_ended_unless_it_is_alone(
    sleeping: Sleeping, *, is_alone: bool
) -> None:
    steps = sleeping.steps
    active = ActiveTenants()
    active.note(PAUSING if is_alone else OTHER)
    places = FairPlaces(4, pauses=Pauses(active))

    async def request() -> None:
        async with places.one(PAUSING, pauses=True):
            steps.append("began")
            await asyncio.sleep(0)
            steps.append("ended")

    async def scenario() -> None:
        await asyncio.gather(*(request() for _ in range(2)))

    run(scenario())
    assert steps == (["began"] * 2 + ["ended"] * 2 if is_alone else ["slept", "began", "ended"] * 2)


def test_a_request_that_is_given_up_in_its_pause_keeps_no_place(sleeping: Sleeping, pauses: Pauses) -> None:
    order: list[int] = []
    places = FairPlaces(1, pauses=pauses)

    async def request(number: int) -> None:
        async with places.one(PAUSING, pauses=True):
            order.append(number)

    async def scenario() -> None:
        given_up = asyncio.create_task(request(1))
        await sleeping.began.wait()
        given_up.cancel()
        with suppress(asyncio.CancelledError):
            await given_up
        sleeping.end.set()
        await request(2)

    run(scenario())
    assert order == [2]


def test_what_waits_behind_its_tenants_reads_keeps_no_place_from_another() -> None:
    order: list[str] = []
    active = ActiveTenants()
    for tenant in ("first", "second"):
        active.note(tenant)
    places = FairPlaces(2, pauses=Pauses(active))

    async def scenario() -> None:
        may_end, has_begun = asyncio.Event(), asyncio.Event()

        async def read() -> None:
            async with places.one("first"):
                has_begun.set()
                await may_end.wait()

        async def write(tenant: str) -> None:
            async with places.one(tenant, pauses=True):
                order.append(tenant)

        reading = asyncio.create_task(read())
        await has_begun.wait()
        behind = [asyncio.create_task(write("first")) for _ in range(3)]
        await asyncio.sleep(0)
        await write("second")
        assert order == ["second"]
        may_end.set()
        await asyncio.gather(reading, *behind)

    run(scenario())
    assert order == ["second", *["first"] * 3]
