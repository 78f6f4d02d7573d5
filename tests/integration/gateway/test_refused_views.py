"""A provider that refuses a view, but not for its length, gets what the agent sent, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from foldline.log.events import Event, GatewayCall, GatewayOutcome
from tests.integration.gateway.test_gateway import PATHS, WINDOW, gateway_to
from tests.support.gateway_agents import WholeHistoryAgent
from tests.support.processes.agent_provider import APIS, AgentProvider, Json, agent_provider

ROLES = "Conversation roles must alternate user/assistant/user/assistant/..."
# So many of the agent's turns need a view.
TURNS = 30


@pytest.fixture
def provider() -> Iterator[AgentProvider]:
    """A provider with a larger window than the gateway's."""
    with agent_provider() as provider:
        yield provider


def reject_views(provider: AgentProvider, agent: WholeHistoryAgent, status: int, text: str) -> None:
    """From now on the provider takes the agent's own history alone."""
    messages = APIS[agent.path].messages

    def rejected(body: Json) -> tuple[int, str] | None:
        return None if body[messages] == agent.body[messages] else (status, text)

    provider.rejects = rejected


def outcomes_of(heard: list[Event]) -> Counter[str]:
    return Counter(event.outcome for event in heard if isinstance(event, GatewayCall))


@pytest.mark.parametrize(("status", "text"), [(400, ROLES), (422, "no such role"), (500, f"Jinja Exception: {ROLES}")])
@pytest.mark.parametrize("path", PATHS)
def test_a_view_that_is_refused_gives_way_to_what_came(
    provider: AgentProvider, path: str, status: int, text: str
) -> None:
    heard: list[Event] = []
    with gateway_to(provider, heard=heard) as address:
        agent = WholeHistoryAgent(address, path)
        agent.say("Read all parts.")
        reject_views(provider, agent, status, text)
        agent.work(TURNS)
    outcomes = outcomes_of(heard)
    assert outcomes[GatewayOutcome.VIEW] == outcomes[GatewayOutcome.VIEW_REFUSED] > 0
    assert len(provider.requests) == TURNS + outcomes[GatewayOutcome.VIEW_REFUSED]
    assert "x-foldline-session" not in agent.answers[-1].headers


@pytest.mark.parametrize("context_window", [WINDOW, None])
def test_what_came_is_refused_for_good(provider: AgentProvider, context_window: int | None) -> None:
    """Its refusal says that it is too long, which the agent understands."""
    provider.window = WINDOW
    heard: list[Event] = []
    with gateway_to(provider, heard=heard, gateway_context_window=context_window) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        reject_views(provider, agent, 400, ROLES)
        while not agent.answers or agent.answers[-1].is_success:
            agent.call()
    assert (agent.answers[-1].status_code, agent.answers[-1].content) == (400, provider.sent[-1])
    assert "prompt is too long" in agent.answers[-1].text
    outcomes = outcomes_of(heard)
    assert outcomes[GatewayOutcome.VIEW_REFUSED] > 0
    assert len(provider.requests) == outcomes.total()


@pytest.mark.parametrize(("status", "text"), [(500, "Internal server error"), (413, ""), (429, ROLES), (503, ROLES)])
def test_what_no_other_form_helps_reaches_the_agent(provider: AgentProvider, status: int, text: str) -> None:
    with gateway_to(provider) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        agent.work(TURNS)
        reject_views(provider, agent, status, text)
        sent = len(provider.requests)
        answer = agent.call()
    assert (answer.status_code, answer.content, len(provider.requests)) == (status, provider.sent[-1], sent + 1)
