"""Summaries that come late, in any order with appends: an agent's views fit all the time."""

from __future__ import annotations

from random import Random
from typing import Any

import httpx
import pytest

from foldline.engine.policies.presets import PRESETS
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.jobs import claims, publish
from foldline.log.jobs.leases import Claim
from tests.support.processes.api import Api
from tests.support.processes.databases import only_sqlite
from tests.support.processes.signed_agent import Agent
from tests.support.processes.signing_provider import signing_provider

database_kind = only_sqlite

CALLS = 60
# Its views are filled to the budget.
EXAMPLE = ("neurolink@program", 0)
# Before a request, this share of the times a job begins, and another one ends.
SHARE = 0.3


class Late(httpx.Client):
    """A service whose jobs begin and end between requests, by chance."""

    def __init__(self, api: Api, random: Random) -> None:
        super().__init__()
        self.api, self.random = api, random
        self.held: list[Claim] = []

    def request(self, method: str, url: Any, **fields: Any) -> httpx.Response:
        if self.random.random() < SHARE:
            found = (claims.claim(self.api.store, queue) for queue in (INTERACTIVE, BACKGROUND))
            self.held += [claim for claim in found if claim is not None]
        if self.held and self.random.random() < SHARE:
            claim = self.held.pop()
            draft = SummaryDraft(extractive.summarize(claim.request), degraded=False, summarizer="extractive")
            publish.publish(self.api.store, claim, draft)
        return self.api.client.request(method, url, **fields)


@pytest.mark.parametrize(
    ("preset", "seed"),
    [
        pytest.param(preset, seed, marks=() if (preset, seed) == EXAMPLE else pytest.mark.thorough)
        for preset in PRESETS
        for seed in range(12)
    ],
)
def test_every_view_fits_whenever_a_summary_comes(api: Api, preset: str, seed: int) -> None:
    with signing_provider(2) as provider, Late(api, Random(seed)) as service:
        Agent(service, provider, policy={"preset": preset}).work(CALLS, Random(2))
    assert provider.refusals == 0
