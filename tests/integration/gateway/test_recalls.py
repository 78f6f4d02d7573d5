"""A model that is offered recall asks what is out of view, and its agent sees the answer that follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.gateway.test_gateway import PATHS, WINDOW, gateway_to
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import APIS, AgentProvider, agent_provider, names_of
from tests.support.processes.http import client, items_of

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS: dict[str, Any] = {
    "/v1/messages": {"name": "read", "input_schema": SCHEMA},
    "/v1/chat/completions": {"type": "function", "function": {"name": "read", "parameters": SCHEMA}},
    "/v1/responses": {"type": "function", "name": "read", "parameters": SCHEMA},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[AgentProvider]:
    with agent_provider(WINDOW) as provider:
        yield provider


@pytest.fixture(scope="module")
def gateway(provider: AgentProvider) -> Iterator[str]:
    with gateway_to(provider, gateway_recall=True) as address:
        yield address


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_call_of_recall_is_answered_and_the_agent_gets_what_follows(
    gateway: str, provider: AgentProvider, path: str, *, stream: bool
) -> None:
    agent = WholeHistoryAgent(gateway, path, fields={"tools": [TOOLS[path]]})
    agent.say(f"Read all parts through {path}{', streaming' * stream}.")
    agent.work(30)
    assert names_of(provider.requests[-1]["tools"]) == ["read", "recall"]
    sent = len(provider.requests)
    provider.recalls += ["part_1.py", "part_2.py"]
    answer = agent.call(stream=stream)
    assert (answer.status_code, provider.invalid, len(provider.requests)) == (200, [], sent + 3)
    assert "recall" not in json.dumps(provider.said[answer.content])
    if stream:
        agent.do(provider.said[answer.content])
    agent.work(2)
    # What the model saw stays in its view, and the agent's history still is one line.
    said = json.dumps(provider.requests[-1][APIS[path].messages])
    assert (said.count('"name": "recall"'), provider.invalid, provider.refusals) == (2, [], 0)
    with client(gateway) as connected:
        assert len(items_of(connected, f"/sessions/{session_of(agent)}/branches")) == 1


def test_a_provider_that_refuses_what_follows_is_asked_without_recall() -> None:
    with agent_provider(WINDOW) as provider, gateway_to(provider, gateway_recall=True) as address:
        agent = WholeHistoryAgent(address, "/v1/messages", fields={"tools": [TOOLS["/v1/messages"]]})
        agent.say("Read all parts.")
        agent.work(30)
        turn = provider.newest
        agent.work(1)
        turn = provider.newest - turn
        provider.recalls.append("part_1.py")
        # Room for the next request, and no more.
        provider.window = provider.newest + turn + 10
        agent.work(1)
    assert (provider.refusals, provider.recalls, names_of(provider.requests[-1]["tools"])) == (1, [], ["read"])
    assert "x-foldline-session" in agent.answers[-1].headers
