"""What the gateway itself refuses is an error as the provider's own, with the same status and headers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from foldline.engine.wire import loads
from foldline.log.storage.store import Limits
from tests.integration.gateway.test_gateway import gateway_to
from tests.support.gateway_agents import WholeHistoryAgent
from tests.support.processes.agent_provider import AgentProvider, agent_provider
from tests.support.processes.http import post

KEY = "key-of-ann-0000000"
HELLO = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
OF_ANTHROPIC = ("/v1/messages", "/anthropic/v1/messages", "/v1/messages/count_tokens")
OF_OPENAI = ("/v1/chat/completions", "/openai/v1/chat/completions", "/v1/responses", "/v1/models")


@pytest.fixture(scope="module")
def provider() -> Iterator[AgentProvider]:
    with agent_provider(16_000) as provider:
        yield provider


@pytest.fixture(scope="module")
def keyed(provider: AgentProvider) -> Iterator[str]:
    with gateway_to(provider, api_keys=f"ann:{KEY}", tenant_body_bytes_per_day=1) as address:
        post(f"{address}/sessions", json={}, headers={"X-Foldline-Key": KEY})
        yield address


@pytest.mark.parametrize("path", [*OF_ANTHROPIC, *OF_OPENAI])
def test_a_refusal_has_the_shape_of_the_provider(keyed: str, provider: AgentProvider, path: str) -> None:
    before = len(provider.requests)
    for key, status, kind, header in (
        ("another", 401, "authentication_error", "www-authenticate"),
        (KEY, 429, "rate_limit_error", "retry-after"),
    ):
        answer = post(keyed + path, json=HELLO, headers={"X-Foldline-Key": key})
        said = loads(answer.content)
        assert (answer.status_code, said["error"]["type"], header in answer.headers) == (status, kind, True)
        assert said.get("type") == ("error" if path in OF_ANTHROPIC else None)
        assert said["error"]["message"].startswith("Foldline: ")
    assert len(provider.requests) == before


def test_elsewhere_a_refusal_is_a_problem_document(keyed: str) -> None:
    answer = post(f"{keyed}/sessions", json=HELLO, headers={"X-Foldline-Key": "another"})
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_conversation_that_would_need_a_session_above_the_limit_goes_on_as_it_came(provider: AgentProvider) -> None:
    with gateway_to(provider, Limits(tenant_sessions=1)) as address:
        agents = [WholeHistoryAgent(address, "/v1/messages") for _ in range(2)]
        for number, agent in enumerate(agents):
            agent.say(f"Hello, {number}.")
            agent.call()
        answers = [agent.answers[0] for agent in agents]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert ["x-foldline-session" in answer.headers for answer in answers] == [True, False]
