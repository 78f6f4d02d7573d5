"""Agents at work through the gateway do not notice what breaks behind it, and what they said is stored once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event
from time import monotonic
from typing import Any

import pytest

from stack.processes.members import Member
from tests.support.eventually import eventually
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import APIS, AgentProvider, agent_provider
from tests.support.processes.deployment import Deployment, deployed
from tests.support.processes.http import items_of

pytestmark = pytest.mark.timeout(300)

WINDOW = 12_000
FROZEN_SECONDS = 8.0
# Each agent of the three APIs, and how often it calls while something is broken.
TURNS = 12


@pytest.fixture(scope="module")
def provider() -> Iterator[AgentProvider]:
    with agent_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def deployment(provider: AgentProvider) -> Iterator[Deployment]:
    with deployed(
        workers=1,
        FOLDLINE_ANTHROPIC_BASE_URL=provider.url,
        FOLDLINE_OPENAI_BASE_URL=f"{provider.url}/v1",
        FOLDLINE_GATEWAY_CONTEXT_WINDOW=str(WINDOW),
    ) as deployment:
        yield deployment


@contextmanager
def frozen(member: Member) -> Iterator[None]:
    """It answers nobody for a while."""
    begun = monotonic()
    member.freeze()
    try:
        yield
        eventually(lambda: monotonic() - begun > FROZEN_SECONDS, FROZEN_SECONDS + 1)
    finally:
        member.thaw()


@contextmanager
def killed(member: Member) -> Iterator[None]:
    """It loses what it has in memory, and comes back."""
    member.kill()
    yield


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (frozen, "database"),
        (killed, "database"),
        pytest.param(frozen, "broker", marks=pytest.mark.thorough),
        pytest.param(killed, "worker-1", marks=pytest.mark.thorough),
    ],
)
def test_no_call_fails_and_all_that_was_said_is_stored_once(
    deployment: Deployment, provider: AgentProvider, fault: Callable[[Member], Any], name: str
) -> None:
    deployment.wait_until_whole()
    agents = [WholeHistoryAgent(deployment.stack.api_url, path) for path in APIS]
    begun = Event()

    def work(agent: WholeHistoryAgent) -> None:
        agent.say(f"Read all parts of {agent.path}, {fault.__name__} {name}.")
        for turn in range(TURNS):
            answer = agent.call(stream=turn % 2 == 1)
            if turn % 2 == 1:
                agent.do(provider.said[answer.content])
            if turn == TURNS // 4:
                begun.set()

    with ThreadPoolExecutor(len(agents)) as pool:
        working = [pool.submit(work, agent) for agent in agents]
        assert begun.wait(60)
        with fault(deployment.stack[name]):
            for done in working:
                done.result()
    assert [answer.status_code for agent in agents for answer in agent.answers] == [200] * TURNS * len(agents)
    went_on_as_they_came = any("x-foldline-session" not in answer.headers for a in agents for answer in a.answers)
    assert went_on_as_they_came or (fault, name) != (frozen, "database"), "nobody noticed"
    deployment.wait_until_whole()
    for agent in agents:
        # What still waits for a database that answers again may take a moment.
        eventually(partial(is_recognised, agent))
        session = f"/sessions/{session_of(agent)}"
        # The last call comes back with its result, which is not sent yet.
        said = calls_in(agent.history)[:-2]
        eventually(lambda session=session, said=said: stored(deployment, session) == said)  # type: ignore[misc]
        assert len(items_of(deployment.client, f"{session}/branches")) == 1


def is_recognised(agent: WholeHistoryAgent) -> bool:
    """Whether the agent's next request is."""
    agent.work(1)
    return "x-foldline-session" in agent.answers[-1].headers


def calls_in(messages: Any) -> list[str]:
    """The ids of calls and results, in order."""
    return re.findall(r"toolu_\d+", json.dumps(messages))


def stored(deployment: Deployment, session: str) -> list[str]:
    entries = items_of(deployment.client, f"{session}/entries")
    return calls_in([entry["message"] for entry in entries if entry["kind"] == "message"])
