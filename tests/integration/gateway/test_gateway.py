"""The gateway: agents that send their whole history get answers to views that fit, and nothing of theirs is lost."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import httpx
import pytest
from foldline_api.app import create_app

from foldline.engine.gateway.cache_marks import MOST_MARKS
from foldline.log.events import Event, GatewayCall, GatewayOutcome
from foldline.log.storage.store import Limits
from foldline.settings import Settings
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import AgentProvider, agent_provider
from tests.support.processes.databases import sqlite_database
from tests.support.processes.http import client, get, items_of, post
from tests.support.processes.raw_http import written
from tests.support.processes.server import opened_store, served

PATHS = ("/v1/messages", "/v1/chat/completions", "/v1/responses")
WINDOW = 16_000


@contextmanager
def gateway_to(
    provider: AgentProvider, limits: Limits | None = None, heard: list[Event] | None = None, **settings: Any
) -> Iterator[str]:
    """The address of a service whose upstreams are the provider; its events are added to `heard`."""
    chosen = Settings(
        **{
            "anthropic_base_url": provider.url,
            "openai_base_url": f"{provider.url}/v1",
            "gateway_context_window": WINDOW,
            **settings,
        }
    )
    with sqlite_database() as url, opened_store(url, limits) as store, served(create_app(chosen, store)) as address:
        store.subscribe(([] if heard is None else heard).append)
        yield address


@pytest.fixture
def provider() -> Iterator[AgentProvider]:
    with agent_provider(WINDOW) as provider:
        yield provider


@pytest.fixture
def gateway(provider: AgentProvider) -> Iterator[str]:
    with gateway_to(provider) as address:
        yield address


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


def test_a_view_has_none_of_the_marks_that_stood_in_results(gateway: str, provider: AgentProvider) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/messages")
    agent.say("Read all parts.")
    agent.work(1)
    for _ in range(30):
        (result,) = agent.history[-1]["content"]
        said = {"type": "text", "text": result["content"]}
        result["content"] = [{**said, "cache_control": {"type": "ephemeral"}}]
        newest = agent.history[-1]
        agent.work(1)
        newest["content"][0]["content"] = [said]
    assert int(agent.answers[-1].headers["x-foldline-view-tokens"]) < WINDOW
    assert max(raw.count(b'"cache_control":') for raw in provider.raw) <= MOST_MARKS
    assert provider.refusals == 0


@pytest.mark.parametrize("path", PATHS)
def test_what_fits_goes_through_byte_for_byte(gateway: str, provider: AgentProvider, path: str) -> None:
    agent = WholeHistoryAgent(gateway, path)
    agent.say("Read one part.")
    raw = httpx.Request("POST", gateway, json={**agent.body, "unknown": {"field": 1.50}}).read()
    answer = post(f"{gateway}{path}?beta=true", content=raw, headers={"Authorization": "Bearer secret", "X-Beta": "b"})
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
    with client(gateway) as connected:
        assert len(items_of(connected, f"/sessions/{session_of(agent)}/branches")) == 2
    agent.work(1)
    assert provider.requests[-1]["messages"][1:] == agent.history[:-2]


def test_side_calls_and_other_conversations_are_sessions_of_their_own(gateway: str) -> None:
    named = ({"X-Foldline-Conversation": name} for name in "ab")
    first, second = (WholeHistoryAgent(gateway, "/v1/messages", headers=headers) for headers in named)
    for agent in (first, second):
        agent.say("Read all parts.")
        agent.work(2)
    assert session_of(first) != session_of(second)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refusal_for_length_is_compacted_and_sent_again_unseen(provider: AgentProvider, status: int) -> None:
    provider.window, provider.refusal_status = WINDOW // 2, status
    with gateway_to(provider) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        agent.work(30)
    assert provider.refusals > 0
    assert {answer.status_code for answer in agent.answers} == {200}


@pytest.mark.parametrize("path", PATHS)
def test_a_conversation_with_a_model_without_a_known_window_begins_when_it_is_refused(
    provider: AgentProvider, path: str
) -> None:
    provider.scale = 1.2
    with gateway_to(provider, gateway_context_window=None) as address:
        agent = WholeHistoryAgent(address, path)
        agent.say("Read all parts. Never push to the branch main.")
        agent.work(60)
    sessions = [answer.headers.get("x-foldline-session") for answer in agent.answers]
    assert len({*sessions}) == 2, "none at first, then always the same"
    assert sessions.index(None) == 0
    assert sessions[-1] is not None
    assert {answer.status_code for answer in agent.answers} == {200}
    assert (1 <= provider.refusals <= 4, provider.invalid) == (True, [])


def test_two_refused_at_the_same_time_are_shortened_once(provider: AgentProvider) -> None:
    with gateway_to(provider, gateway_context_window=None) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        with agent_provider() as boundless, gateway_to(boundless, gateway="off") as elsewhere:
            agent.url = elsewhere
            agent.work(60)
        agent.url = address
        with ThreadPoolExecutor(2) as pool:
            answers = [*pool.map(lambda _: post(address + agent.path, json=agent.body), range(2))]
        session = f"{address}/sessions/{answers[0].headers['x-foldline-session']}"
        made = get(f"{session}/compactions").json()["items"]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [compaction["reason"] for compaction in made] == ["overflow"]


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_a_gateway_that_is_off_or_a_shadow_changes_nothing(provider: AgentProvider, mode: str) -> None:
    provider.window = 1 << 40
    with gateway_to(provider, gateway=mode) as address:
        agent = WholeHistoryAgent(address, "/v1/chat/completions")
        agent.say("Read all parts.")
        agent.work(30)
    assert provider.requests[-1]["messages"][1:] == agent.history[:-2]
    assert ("x-foldline-session" in agent.answers[-1].headers) == (mode == "shadow")


@pytest.mark.parametrize("path", [*PATHS, "/openai/v1/responses", "/anthropic/v1/messages"])
@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"model": 1}', b'{"model": "m", "messages": [], "input": "Hello."}', b"\xff"]
)
def test_what_is_not_understood_goes_on_as_it_came(
    gateway: str, provider: AgentProvider, raw: bytes, path: str
) -> None:
    answer = post(gateway + path, content=raw)
    assert (answer.status_code, answer.content, provider.raw) == (422, provider.sent[-1], [raw])
    assert "x-foldline-session" not in answer.headers


@pytest.mark.parametrize(("path", "messages"), [*zip(PATHS, ("messages", "messages", "input"), strict=True)])
@pytest.mark.parametrize(("bound", "value"), [("max_messages", 12), ("max_values", 100), ("session_entries", 12)])
def test_what_is_above_a_limit_goes_on_as_it_came(
    provider: AgentProvider, path: str, messages: str, bound: str, value: int
) -> None:
    """A whole history grows by itself, and the provider may take it yet."""
    is_of_session = bound == "session_entries"
    limits, settings = (Limits(session_entries=value), {}) if is_of_session else (Limits(), {bound: value})
    heard: list[Event] = []
    with gateway_to(provider, limits, heard, **settings) as address:
        hello = {"role": "user", "content": [{"type": "input_text" if messages == "input" else "text", "text": "Hi."}]}
        answers = [
            post(address + path, json={"model": "m", "max_tokens": 9, messages: [hello] * number}) for number in (3, 40)
        ]
    assert ["x-foldline-session" in answer.headers for answer in answers] == [True, False]
    assert len(json.loads(provider.raw[-1])[messages]) == 40
    outcomes = [event.outcome for event in heard if isinstance(event, GatewayCall)]
    assert outcomes == [GatewayOutcome.WHOLE, GatewayOutcome.NOT_UNDERSTOOD]


def test_other_routes_go_through(gateway: str, provider: AgentProvider) -> None:
    assert post(f"{gateway}/v1/messages/count_tokens", content=b"{").content == provider.sent[-1]
    assert get(f"{gateway}/openai/v1/models").content == provider.sent[-1]
    assert post(f"{gateway}/openai/v1/other/thing?a=%2F", content=b"x").content == provider.sent[-1]
    assert [headers["path"] for headers in provider.headers] == [
        "/v1/messages/count_tokens",
        "/v1/models",
        "/v1/other/thing?a=%2F",
    ]


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
    assert [len(request["messages"]) for request in provider.requests] == [1, 3]
    assert all("x-foldline-session" not in answer.headers for answer in agent.answers)


def said_by(provider: AgentProvider, number: int = -1) -> str:
    return json.dumps(provider.requests[number])


def test_a_refusal_is_answered_with_a_view_of_its_own_conversation(provider: AgentProvider) -> None:
    """Both begin alike, so they are branches of one session, whose head the other one may have moved meanwhile."""
    with gateway_to(provider) as address:
        first, second = (WholeHistoryAgent(address, "/v1/messages") for _ in range(2))
        for agent in (first, second):
            agent.say("Hi.")
            agent.work(1)
        first.say("ALPHA")
        second.say("BETA")
        for _ in range(12):
            second.work(1)
            first.work(1)
        provider.window = WINDOW // 3
        second.work(1)
        first.work(1)
        assert provider.refusals > 0
        assert ("ALPHA" in said_by(provider), "BETA" in said_by(provider)) == (True, False)


def test_a_side_call_to_another_model_shrinks_no_conversation(provider: AgentProvider) -> None:
    provider.window = 1 << 40
    with gateway_to(provider, gateway_context_window=None) as address:
        agent = WholeHistoryAgent(address, "/v1/messages", model="claude-sonnet-4-5")
        agent.say("Read all parts.")
        agent.work(20)
        side = WholeHistoryAgent(address, agent.path, model="gpt-4", history=[*agent.history])
        side.call()
        agent.work(1)
    assert side.answers[-1].headers.get("x-foldline-session") != session_of(agent)
    assert provider.requests[-1]["messages"][0] == agent.history[0]
    assert agent.answers[-1].headers["x-foldline-tokens"] == agent.answers[-1].headers["x-foldline-view-tokens"]


def test_what_one_caller_is_given_to_keep_is_not_sent_for_another(gateway: str, provider: AgentProvider) -> None:
    for name in "ab":
        agent = WholeHistoryAgent(gateway, "/v1/messages", headers={"x-api-key": name})
        agent.say(f"I am {name}.")
        answer = agent.call()
        assert answer.headers["set-cookie"].startswith("seen=")
        assert len(answer.headers.get_list("date")) == 1
    assert [headers.get("cookie") for headers in provider.headers] == [None, None]


def test_models_are_asked_for_where_the_callers_key_belongs(provider: AgentProvider) -> None:
    with agent_provider() as other, gateway_to(other, anthropic_base_url=provider.url) as address:
        get(f"{address}/v1/models", headers={"x-api-key": "a", "anthropic-version": "2023-06-01"})
        get(f"{address}/v1/models", headers={"Authorization": "Bearer o"})
        assert [headers["x-api-key"] for headers in provider.headers] == ["a"]
        assert [headers["authorization"] for headers in other.headers] == ["Bearer o"]


def test_an_address_with_another_version_than_v1_keeps_it(provider: AgentProvider) -> None:
    with gateway_to(provider, openai_base_url=f"{provider.url}/api/v4") as address:
        get(f"{address}/openai/v1/models")
    assert provider.headers[0]["path"] == "/api/v4/models"


def test_a_key_of_the_service_is_not_passed_on(provider: AgentProvider) -> None:
    with gateway_to(provider, api_keys="one:first-secret-key") as address:
        body = {"model": "nobody/nothing", "max_tokens": 10, "messages": [{"role": "user", "content": "Hi."}]}
        for headers in ({"Authorization": "Bearer first-secret-key"}, {"X-Foldline-Key": "first-secret-key"}):
            assert post(f"{address}/v1/messages", json=body, headers=headers).is_success
        assert post(f"{address}/v1/messages", json=body, headers={"x-api-key": "x"}).status_code == 401
    assert "first-secret-key" not in json.dumps(provider.headers)


def test_what_looks_like_a_key_of_the_service_is_not_passed_on_by_one_without_keys(
    gateway: str, provider: AgentProvider
) -> None:
    key = f"fl_{'0' * 24}_{'1' * 64}"
    body = {"model": "nobody/nothing", "max_tokens": 10, "messages": [{"role": "user", "content": "Hi."}]}
    for authorization in (f"Bearer {key}", "Bearer of-the-provider"):
        assert post(f"{gateway}/v1/messages", json=body, headers={"Authorization": authorization}).is_success
    assert [headers.get("authorization") for headers in provider.headers] == [None, "Bearer of-the-provider"]


def test_a_system_message_in_front_is_something_that_was_said(gateway: str) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/messages")
    agent.history.append({"role": "system", "content": "Be brief."})
    agent.say("Read all parts.")
    agent.work(3)
    assert {session_of(agent)} == {answer.headers["x-foldline-session"] for answer in agent.answers}


@pytest.mark.parametrize("role", [["x"], 7, {}])
def test_a_role_that_is_none_goes_on_as_it_came(gateway: str, provider: AgentProvider, role: Any) -> None:
    raw = json.dumps({"model": "m", "messages": [{"role": role, "content": "a"}]}).encode()
    with suppress(httpx.HTTPError):
        post(f"{gateway}/v1/chat/completions", content=raw)
    assert provider.raw == [raw]


def test_a_refusal_that_breaks_off_is_an_error_of_the_provider() -> None:
    with broken_server() as url, gateway_to(AgentProvider(url=url)) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Hello.")
        assert (agent.call().status_code, agent.answers[-1].json()["error"]["type"]) == (502, "api_error")


@contextmanager
def broken_server() -> Iterator[str]:
    """A server whose refusals end in the middle."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 500\r\n\r\n{")

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_a_caller_who_leaves_ends_the_call_of_the_provider() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with gateway_to(AgentProvider(url=url)) as address:
            agent = WholeHistoryAgent(address, "/v1/messages")
            agent.say("Hello.")
            with pytest.raises(httpx.ReadTimeout):
                post(f"{address}/v1/messages", json=agent.body, timeout=1)
            connection, _ = listener.accept()
            connection.settimeout(10)
            with connection:
                while connection.recv(1 << 16):
                    pass


def test_a_caller_who_leaves_a_refusal_that_falls_silent_ends_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with gateway_to(AgentProvider(url=url)) as address:
            agent = WholeHistoryAgent(address, "/v1/messages")
            agent.say("Hello.")
            with socket.create_connection(("127.0.0.1", httpx.URL(address).port or 0)) as caller:
                body = json.dumps(agent.body).encode()
                caller.sendall(written(b"POST /v1/messages HTTP/1.1", [(b"Host", b"127.0.0.1")], body))
                connection, _ = listener.accept()
                connection.settimeout(10)
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % (24 << 20))
                # More than a connection holds: when all of it has gone, the gateway reads the refusal.
                connection.sendall(b"x" * (20 << 20))
            with connection, suppress(ConnectionResetError):
                while connection.recv(1 << 16):
                    pass


def test_the_same_request_after_an_undo_is_compacted_anew(gateway: str, provider: AgentProvider) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/messages")
    agent.say("Read all parts.")
    agent.work(30)
    said = [*agent.history]
    agent.work(1)
    with client(gateway) as connected:
        session = f"/sessions/{session_of(agent)}"
        first = items_of(connected, f"{session}/compactions")[0]["id"]
        connected.post(f"{session}/compactions/{first}/undo").raise_for_status()
    agent.history = said
    agent.work(1)
    assert provider.refusals == 0
    assert int(agent.answers[-1].headers["x-foldline-view-tokens"]) < WINDOW
