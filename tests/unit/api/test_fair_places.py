"""A tenant whose large requests pause keeps no place from the others, nor from its own that do not pause."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest
from foldline_api.http.bounds import places as places_module
from foldline_api.http.bounds.places import FairPlaces

PAUSING, OTHER = "pausing", "other"
PAUSE_SECONDS = 3600.0
PATIENCE_SECONDS = 20


class Sleeping:
    """Sleeps that end when the test says so; `asked` are their seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[float] = []
        self.began, self.end = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(places_module, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        if seconds:
            self.began.set()
            await self.end.wait()


@pytest.fixture
def sleeping(monkeypatch: pytest.MonkeyPatch) -> Sleeping:
    return Sleeping(monkeypatch)


def pause(tenant: str) -> float:
    return PAUSE_SECONDS if tenant == PAUSING else 0.0


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, PATIENCE_SECONDS))


def test_while_a_tenants_writing_requests_pause_all_others_go_on(sleeping: Sleeping) -> None:
    order: list[str] = []
    places = FairPlaces(1, pause=pause)

    async def request(tenant: str, name: str, *, pauses: bool) -> None:
        async with places.one(tenant, pauses=pauses):
            order.append(name)

    async def scenario() -> None:
        writing = asyncio.create_task(request(PAUSING, "writes", pauses=True))
        await sleeping.began.wait()
        await request(OTHER, "another tenant", pauses=True)
        await request(PAUSING, "does not write", pauses=False)
        sleeping.end.set()
        await writing

    run(scenario())
    assert order == ["another tenant", "does not write", "writes"]


def test_each_request_of_a_tenant_pauses_when_those_before_it_have_ended(sleeping: Sleeping) -> None:
    steps: list[str] = []

    def ask(_tenant: str) -> float:
        steps.append("asked")
        return 0.0

    places = FairPlaces(2, pause=ask)

    async def request() -> None:
        async with places.one(PAUSING, pauses=True):
            steps.append("began")
            await asyncio.sleep(0)
            steps.append("ended")

    async def scenario() -> None:
        await asyncio.gather(*(request() for _ in range(3)))

    run(scenario())
    assert steps == ["asked", "began", "ended"] * 3
    assert sleeping.asked == [0.0] * 3


def test_a_request_that_is_given_up_in_its_pause_keeps_no_place(sleeping: Sleeping) -> None:
    order: list[int] = []
    places = FairPlaces(1, pause=pause)

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
    places = FairPlaces(2, pause=lambda _tenant: 0.0)

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
