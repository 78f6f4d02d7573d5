"""Sessions of an agent whose model signs its reasoning, driven to their end against a provider that checks it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import httpx
import pytest

from foldline.engine.policies.presets import PRESETS
from foldline.replay.embedded import embedded_service
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client
from tests.support.processes.signed_agent import Agent
from tests.support.processes.signing_provider import signing_provider

database_kind = only_sqlite

CALLS = 40
SESSIONS = [pytest.param(seed, marks=() if seed in {0, 2} else pytest.mark.thorough) for seed in range(50)]


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    with embedded_service() as url, client(url) as connected:
        yield connected


@pytest.mark.parametrize("seed", SESSIONS)
def test_a_provider_that_checks_the_prefix_refuses_no_view(seed: int, service: httpx.Client) -> None:
    random = Random(seed)
    preset = tuple(PRESETS)[seed % len(PRESETS)]
    with signing_provider(seed) as provider:
        agent = Agent(service, provider, policy={"preset": preset})
        agent.work(CALLS, random)
        agent.change(system="You look closely.")
        agent.work(CALLS // 4, random)

    assert provider.refusals == 0
    assert provider.reasoning_taken > CALLS
    assert agent.ask("GET", f"{agent.path}/compactions")["items"]


def test_a_report_of_refused_reasoning_heals_the_session(service: httpx.Client) -> None:
    with signing_provider(100) as provider:
        agent = Agent(service, provider)
        agent.say("look")
        # As after a summary that was published while the model worked, by an agent that says nothing of versions.
        thinking = {"type": "thinking", "thinking": "of another conversation", "signature": "of another"}
        agent.append({"role": "assistant", "content": [thinking, {"type": "text", "text": "looked"}]})
        agent.work(3, Random(1))
        assert provider.refusals == 1
    view = agent.ask("GET", f"{agent.path}/context?format=anthropic&open=stub")
    assert view["reasoning"]["left_out"] == {"refused": 1}
    (healed,) = agent.ask("GET", f"{agent.path}/compactions")["items"]
    assert healed["reason"] == "reasoning"
