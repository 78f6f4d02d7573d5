"""An agent that goes back, and a model that repeats a call: the call has a new id, and the conversation goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.log.events import Event, GatewayCall, GatewayOutcome
from tests.integration.gateway.test_gateway import PATHS, WINDOW, gateway_to
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import agent_provider
from tests.support.processes.http import client, items_of


def repeated(said: list[dict[str, Any]], call_id: str, result: str) -> list[dict[str, Any]]:
    """The thirty-first call and its result, with another id and another result."""
    text = json.dumps(said).replace("toolu_31", call_id).replace("value = 1", result)
    again: list[dict[str, Any]] = json.loads(text)
    return again


@pytest.mark.parametrize("path", PATHS)
def test_a_repeated_call_with_another_id_and_another_result_is_a_branch(path: str) -> None:
    heard: list[Event] = []
    with agent_provider(WINDOW) as provider, gateway_to(provider, heard=heard) as address:
        agent = WholeHistoryAgent(address, path)
        agent.say("Read all parts.")
        agent.work(30)
        agent.say("Read one more.")
        agent.work(3)
        before, call = agent.history[:-6], agent.history[-6:-4]
        for number in (2, 3):
            back = WholeHistoryAgent(address, path, history=[*before])
            back.history += repeated(call, f"toolu_of_{number}", f"value = {number}")
            back.work(3)
            sent = json.dumps(provider.requests[-1])
            assert [f"toolu_of_{number}" in sent, f"value = {number}" in sent, '"toolu_31"' in sent] == [1, 1, 0]
            assert session_of(back) == session_of(agent)
        agent.work(1)
        assert '"toolu_31"' in json.dumps(provider.requests[-1])
        with client(address) as connected:
            assert len(items_of(connected, f"/sessions/{session_of(agent)}/branches")) == 3
    outcomes = [event.outcome for event in heard if isinstance(event, GatewayCall)]
    assert outcomes[-7:] == [GatewayOutcome.VIEW] * 7
    assert (provider.invalid, provider.refusals) == ([], 0)


def called_twice(ids: tuple[str, str], *results: str) -> list[dict[str, Any]]:
    """A message with two calls, and a message for each result."""
    calls = [
        {"id": call_id, "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{at}.py"}}'}}
        for at, call_id in enumerate(ids)
    ]
    answers = [
        {"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in zip(ids, results, strict=True)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]


def test_of_two_repeated_calls_the_second_alone_may_have_another_result() -> None:
    with agent_provider(WINDOW) as provider, gateway_to(provider) as address:
        agent = WholeHistoryAgent(address, "/v1/chat/completions")
        agent.say("Read all parts.")
        agent.work(30)
        before = agent.history
        for ids, results in ((("a", "b"), ("one", "two")), (("c", "d"), ("one", "three"))):
            agent.history = [*before, *called_twice(ids, *results)]
            agent.work(1)
            sent = json.dumps(provider.requests[-1])
            assert [f'"tool_call_id": "{call_id}"' in sent for call_id in "abcd"] == [name in ids for name in "abcd"]
    assert (provider.invalid, provider.refusals) == ([], 0)


def test_a_result_that_comes_later_than_that_of_the_other_call_begins_no_branch() -> None:
    with agent_provider(WINDOW) as provider, gateway_to(provider) as address, client(address) as connected:
        agent = WholeHistoryAgent(address, "/v1/chat/completions")
        agent.say("Read two parts.")
        said = [*agent.history, *called_twice(("a", "b"), "one", "two")]
        for length in (3, 4):
            agent.history = said[:length]
            agent.call()
        assert len(items_of(connected, f"/sessions/{session_of(agent)}/branches")) == 1
