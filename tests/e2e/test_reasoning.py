"""Sessions of an agent whose model signs its reasoning, driven to their end against a provider that checks it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import httpx
import pytest

from foldline.engine.policies.presets import PRESETS
from foldline.replay.embedded import embedded_service
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client
from tests.support.processes.signing_provider import SigningProvider, signing_provider

database_kind = only_sqlite

Json = dict[str, Any]
MODEL = "anthropic/claude-sonnet-4-5"
TOOLS = [{"name": "look", "description": "Look at a place.", "input_schema": {"type": "object", "properties": {}}}]
CALLS = 40
SESSIONS = [pytest.param(seed, marks=() if seed < 3 else pytest.mark.thorough) for seed in range(50)]


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    with embedded_service() as url, client(url) as connected:
        yield connected


class Agent:
    """An agent that reads a view before each call of its model, and appends what comes back."""

    def __init__(self, service: httpx.Client, provider: SigningProvider, **fields: Any) -> None:
        body = {"model": MODEL, "context_window": 9_000, "system": "You look.", "tools": TOOLS, **fields}
        self._service, self._provider = service, provider
        self.path = f"/sessions/{self.ask('POST', '/sessions', body)['id']}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        response = self._service.request(method, path, json=body)
        assert response.is_success, response.text
        return response.json()

    def say(self, content: Any) -> None:
        self.append({"role": "user", "content": content})

    def append(self, message: Json, **fields: Any) -> None:
        self.ask("POST", f"{self.path}/messages", {"messages": [message], "format": "anthropic", **fields})

    @property
    def view(self) -> Json:
        view: Json = self.ask("GET", f"{self.path}/context?format=anthropic")
        return view

    def call(self) -> list[str]:
        """Have the model answer; the ids of the calls it makes."""
        view = self.view
        request = {"model": MODEL, "system": view["system"], "tools": TOOLS, "messages": view["messages"]}
        response = httpx.post(self._provider.url, json={**request, "max_tokens": 1_000})
        if response.is_error:
            self.report(response.json(), view["version"])
            return self.call()
        content = response.json()["content"]
        self.append({"role": "assistant", "content": content}, usage={"version": view["version"], "input": 0})
        return [block["id"] for block in content if block["type"] == "tool_use"]

    def report(self, error: Any, version: int) -> Json:
        answer: Json = self.ask("POST", f"{self.path}/overflow", {"error": error, "version": version})
        return answer

    def work(self, calls: int, random: Random) -> None:
        """Turns with so many calls of the model in all."""
        waiting: list[str] = []
        for number in range(calls):
            text = f"{number} " + "so it goes " * random.choice((5, 40, 150))
            results = [{"type": "tool_result", "tool_use_id": name, "content": text} for name in waiting]
            self.say(results or text)
            waiting = self.call()

    def change(self, **fields: Any) -> None:
        self.ask("PATCH", self.path, fields)


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
