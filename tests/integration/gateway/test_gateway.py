"""The gateway: agents that send their whole history get answers to views that fit, and nothing of theirs is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from foldline_api.app import create_app

from foldline.settings import Settings
from tests.support.gateway_agents import WholeHistoryAgent
from tests.support.processes.agent_provider import AgentProvider, agent_provider
from tests.support.processes.databases import sqlite_database
from tests.support.processes.http import items_of
from tests.support.processes.server import opened_store, served

PATHS = ("/v1/messages", "/v1/chat/completions", "/v1/responses")
WINDOW = 16_000


@contextmanager
def gateway_to(provider: AgentProvider, **settings: Any) -> Iterator[str]:
    """The address of a service whose upstreams are the provider."""
    chosen = Settings(
        anthropic_base_url=provider.url,
        openai_base_url=f"{provider.url}/v1",
        **{"gateway_context_window": WINDOW, **settings},
    )
    with sqlite_database() as url, opened_store(url) as store, served(create_app(chosen, store)) as address:
        yield address


@pytest.fixture
def provider() -> Iterator[AgentProvider]:
    with agent_provider(WINDOW) as provider:
        yield provider


@pytest.fixture
def gateway(provider: AgentProvider) -> Iterator[str]:
    with gateway_to(provider) as address:
        yield address


def session_of(agent: WholeHistoryAgent) -> str:
    session: str = agent.answers[-1].headers["x-foldline-session"]
    return session


@pytest.mark.parametrize("path", PATHS)
def test_an_agent_works_on_far_beyond_the_window_and_the_provider_refuses_nothing(
    gateway: str, provider: AgentProvider, path: str
) -> None:
    agent = WholeHistoryAgent(gateway, path)
    agent.say("Read all parts. Never push to the branch main.")
    agent.work(60)
    assert provider.invalid == []
    assert provider.refusals == 0
    assert {session_of(agent)} == {answer.headers["x-foldline-session"] for answer in agent.answers}
    tokens, in_view = (int(agent.answers[-1].headers[name]) for name in ("x-foldline-tokens", "x-foldline-view-tokens"))
    assert tokens > 1.5 * WINDOW > WINDOW > in_view


@pytest.mark.parametrize("path", PATHS)
def test_what_fits_goes_through_byte_for_byte(gateway: str, provider: AgentProvider, path: str) -> None:
    agent = WholeHistoryAgent(gateway, path)
    agent.say("Read one part.")
    raw = httpx.Request("POST", gateway, json={**agent.body, "unknown": {"field": 1.50}}).read()
    answer = httpx.post(
        f"{gateway}{path}?beta=true", content=raw, headers={"Authorization": "Bearer secret", "X-Beta": "b"}
    )
    assert provider.raw == [raw]
    assert answer.content == provider.sent[0]
    assert answer.headers["request-id"] == "req_1"
    assert {"authorization": "Bearer secret", "x-beta": "b", "path": f"{path}?beta=true"}.items() <= provider.headers[
        0
    ].items()


@pytest.mark.parametrize("path", PATHS)
def test_streams_go_through_byte_for_byte(gateway: str, provider: AgentProvider, path: str) -> None:
    agent = WholeHistoryAgent(gateway, path)
    agent.say("Read one part.")
    answer = agent.call(stream=True)
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.content == provider.sent[0]


def test_all_that_was_said_is_stored_once(gateway: str, provider: AgentProvider) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/messages")
    agent.say("Read all parts.")
    agent.work(20)
    with httpx.Client(base_url=gateway) as client:
        entries = items_of(client, f"/sessions/{session_of(agent)}/entries")
    said = [entry["message"] for entry in entries if entry["kind"] == "message"]
    # What follows the last request is not said yet.
    assert len(said) == len(agent.history) - 2


def test_an_edited_message_is_a_branch_and_the_old_line_stays(gateway: str, provider: AgentProvider) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/chat/completions")
    agent.say("Read all parts.")
    agent.work(4)
    agent.say("Now rename them.")
    agent.work(2)
    edited = WholeHistoryAgent(gateway, agent.path, history=agent.history[:9])
    edited.say("Now delete them.")
    edited.work(1)
    assert session_of(edited) == session_of(agent)
    with httpx.Client(base_url=gateway) as client:
        assert len(items_of(client, f"/sessions/{session_of(agent)}/branches")) == 2
    agent.work(1)
    assert provider.requests[-1]["messages"][1:] == agent.history[:-2]


def test_side_calls_and_other_conversations_are_sessions_of_their_own(gateway: str) -> None:
    named = ({"X-Foldline-Conversation": name} for name in "ab")
    first, second = (WholeHistoryAgent(gateway, "/v1/messages", headers=headers) for headers in named)
    for agent in (first, second):
        agent.say("Read all parts.")
        agent.work(2)
    assert session_of(first) != session_of(second)


def test_a_refusal_for_length_is_compacted_and_sent_again_unseen(provider: AgentProvider) -> None:
    provider.window = WINDOW // 2
    with gateway_to(provider) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        agent.work(30)
    assert provider.refusals > 0
    assert {answer.status_code for answer in agent.answers} == {200}


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_a_gateway_that_is_off_or_a_shadow_changes_nothing(provider: AgentProvider, mode: str) -> None:
    provider.window = 1 << 40
    with gateway_to(provider, gateway=mode) as address:
        agent = WholeHistoryAgent(address, "/v1/chat/completions")
        agent.say("Read all parts.")
        agent.work(30)
    assert provider.requests[-1]["messages"][1:] == agent.history[:-2]
    assert ("x-foldline-session" in agent.answers[-1].headers) == (mode == "shadow")


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"model": 1}', b'{"model": "m", "messages": [], "input": "Hello."}']
)
def test_what_is_not_understood_goes_on_as_it_came(gateway: str, provider: AgentProvider, raw: bytes) -> None:
    assert httpx.post(f"{gateway}/v1/messages/count_tokens", content=raw).content == provider.sent[-1]
    assert httpx.get(f"{gateway}/openai/v1/models").content == provider.sent[-1]
    assert httpx.post(f"{gateway}/openai/v1/other/thing", content=raw).content == provider.sent[-1]


def test_a_provider_that_is_away_is_an_error_in_its_own_shape(gateway: str, provider: AgentProvider) -> None:
    with gateway_to(AgentProvider(url="http://127.0.0.1:9")) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Hello.")
        answer = agent.call()
    assert (answer.status_code, answer.json()["type"], answer.json()["error"]["type"]) == (502, "error", "api_error")


def test_a_database_that_is_away_fails_no_call(provider: AgentProvider) -> None:
    chosen = Settings(anthropic_base_url=provider.url, gateway_context_window=WINDOW)
    with opened_store("sqlite:////nowhere/at/all.db") as store, served(create_app(chosen, store)) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Hello.")
        agent.work(2)
    assert [request["messages"] for request in provider.requests][-1][:1] == agent.history[:1]
