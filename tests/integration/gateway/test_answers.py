"""What the provider answered is in the session as soon as it has ended, and its counts are believed."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any

import pytest
from foldline_api.gateway.hearing import answer_in

from foldline.engine.gateway.dialects import DIALECTS
from tests.integration.gateway.test_gateway import PATHS, WINDOW, gateway_to
from tests.support.eventually import eventually
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import AgentProvider, Anthropic, agent_provider
from tests.support.processes.http import client, items_of


def messages_of(agent: WholeHistoryAgent) -> list[Any]:
    """What the agent's session has, on all branches."""
    with client(agent.url) as connected:
        entries = items_of(connected, f"/sessions/{session_of(agent)}/entries")
        return [entry["message"] for entry in entries if entry["kind"] == "message"]


def holds(agent: WholeHistoryAgent, number: int) -> bool:
    return len(messages_of(agent)) == number


def branches_of(agent: WholeHistoryAgent) -> int:
    with client(agent.url) as connected:
        return len(items_of(connected, f"/sessions/{session_of(agent)}/branches"))


@pytest.fixture(scope="module")
def talker() -> Iterator[AgentProvider]:
    """A provider that calls no tools."""
    with agent_provider(work=iter(())) as provider:
        yield provider


@pytest.fixture(scope="module")
def gateway(talker: AgentProvider) -> Iterator[str]:
    with gateway_to(talker) as address:
        yield address


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_stored_at_once_and_known_when_it_comes_back(
    gateway: str, talker: AgentProvider, path: str, *, stream: bool
) -> None:
    agent = WholeHistoryAgent(gateway, path)
    for turn in range(1, 4):
        agent.say(f"Question {turn} through {path}{', streaming' * stream}.")
        answer = agent.call(stream=stream)
        eventually(partial(holds, agent, 2 * turn))
        if stream:
            agent.do(talker.said[answer.content])
    assert branches_of(agent) == 1


def test_an_answer_that_comes_back_as_something_else_is_a_branch(gateway: str, talker: AgentProvider) -> None:
    agent = WholeHistoryAgent(gateway, "/v1/chat/completions")
    agent.say("Name a colour.")
    agent.work(1)
    eventually(partial(holds, agent, 2))
    agent.history[-1] = {**agent.history[-1], "content": "Something else."}
    agent.say("Go on.")
    agent.work(1)
    assert branches_of(agent) == 2
    assert talker.requests[-1]["messages"][1:] == agent.history[:-1]


def test_an_answer_with_calls_is_what_the_agent_makes_of_it() -> None:
    with agent_provider(WINDOW) as provider, gateway_to(provider) as address:
        agent = WholeHistoryAgent(address, "/v1/chat/completions")
        agent.say("Read all parts.")
        for _ in range(30):
            agent.work(1)
            agent.history[-2] = {**agent.history[-2], "content": "I read."}
        assert branches_of(agent) == 1
        sent = json.dumps(provider.requests[-1]["messages"])
    assert ("I read." in sent, "I read part" in sent) == (True, False)


def test_a_provider_that_counts_more_than_we_do_refuses_nothing() -> None:
    with agent_provider(WINDOW) as counting, gateway_to(counting) as address:
        counting.scale = 1.35
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        agent.work(40)
    assert (counting.refusals, counting.invalid) == (0, [])
    assert WINDOW // 2 < counting.largest <= WINDOW


def test_a_shadow_learns_nothing_of_a_prompt_that_is_not_its_view() -> None:
    with agent_provider() as counting, gateway_to(counting, gateway="shadow") as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read all parts.")
        agent.work(25)
        counting.scale = 1.9
        before = int(agent.answers[-1].headers["x-foldline-view-tokens"])
        agent.work(2)
    assert int(agent.answers[-1].headers["x-foldline-view-tokens"]) < 1.5 * before


ANSWER = Anthropic.message(1, 10, "Read.", None)
WHOLE_STREAM = Anthropic.stream(ANSWER)


@contextmanager
def raw_server(headers: bytes, body: bytes) -> Iterator[str]:
    """A server that sends these bytes, and then closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n" + body)
                connection.shutdown(socket.SHUT_WR)
                # What is closed before it was read to its end is reset.
                while connection.recv(1 << 16):
                    pass

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    ("headers", "body", "stored"),
    [
        (b"Content-Type: text/event-stream", WHOLE_STREAM, 2),
        (b"Content-Type: text/event-stream; charset=utf-8", WHOLE_STREAM.replace(b"\n", b"\r\n"), 2),
        (b"Content-Type: text/event-stream\r\nContent-Encoding: gzip", gzip.compress(WHOLE_STREAM), 2),
        (b"Content-Type: text/event-stream", WHOLE_STREAM[: len(WHOLE_STREAM) // 2], 1),
        (b"Content-Type: text/event-stream", b"data: {\n\nevent: message_stop\n\n", 1),
        (b"Content-Type: application/json", b"<html>", 1),
        (b"Content-Type: application/json\r\nContent-Encoding: gzip", b"no gzip", 1),
    ],
)
def test_what_came_is_passed_on_and_what_is_understood_is_kept(headers: bytes, body: bytes, stored: int) -> None:
    with raw_server(headers, body) as url, gateway_to(AgentProvider(url=url)) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Hello.")
        with client(address) as connected, connected.stream("POST", agent.path, json=agent.body) as answer:
            assert b"".join(answer.iter_raw()) == body
        # It is stored behind the answer, so that one which is not could only be stored later.
        assert (answer_in(DIALECTS[0], answer, body) is None) == (stored == 1)
        agent.answers.append(answer)
        eventually(lambda: len(messages_of(agent)) >= stored)
        assert len(messages_of(agent)) == stored
