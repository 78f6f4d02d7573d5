"""A tenant whose large requests pause keeps no place from the others, and its own order."""

from __future__ import annotations

import asyncio

from foldline_api.http.bounds.places import FairPlaces

PAUSING, OTHER = "pausing", "other"
PAUSE_SECONDS = 0.2
PATIENCE_SECONDS = 20


def test_while_a_tenant_pauses_another_gets_the_only_place() -> None:
    order: list[str] = []
    places = FairPlaces(1, pause=lambda tenant: PAUSE_SECONDS if tenant == PAUSING else 0.0)

    async def request(tenant: str) -> None:
        async with places.one(tenant):
            order.append(tenant)

    async def scenario() -> None:
        pausing = asyncio.create_task(request(PAUSING))
        await asyncio.sleep(0)
        await request(OTHER)
        assert order == [OTHER]
        await pausing

    asyncio.run(asyncio.wait_for(scenario(), PATIENCE_SECONDS))
    assert order == [OTHER, PAUSING]


def test_each_request_of_a_tenant_asks_for_its_pause_when_those_before_it_have_ended() -> None:
    steps: list[str] = []

    def pause(_tenant: str) -> float:
        steps.append("asked")
        return 0.0

    async def request(places: FairPlaces) -> None:
        async with places.one(PAUSING):
            steps.append("began")
            await asyncio.sleep(0)
            steps.append("ended")

    async def scenario() -> None:
        places = FairPlaces(2, pause=pause)
        await asyncio.gather(*(request(places) for _ in range(3)))

    asyncio.run(asyncio.wait_for(scenario(), PATIENCE_SECONDS))
    assert steps == ["asked", "began", "ended"] * 3
