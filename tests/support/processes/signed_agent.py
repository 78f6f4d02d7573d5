"""An agent whose model signs its reasoning, at work with a service over HTTP."""

from __future__ import annotations

from random import Random
from typing import Any

import httpx

from tests.support.processes.http import items_of, post
from tests.support.processes.signing_provider import SigningProvider

Json = dict[str, Any]
MODEL = "anthropic/claude-sonnet-4-5"
TOOLS = [{"name": "look", "description": "Look at a place.", "input_schema": {"type": "object", "properties": {}}}]


class Agent:
    """An agent that reads a view before each call of its model, and appends what comes back."""

    def __init__(self, service: httpx.Client, provider: SigningProvider, model: str = MODEL, **fields: Any) -> None:
        self._model = model
        body = {"model": model, "context_window": 9_000, "system": "You look.", "tools": TOOLS, **fields}
        self.service, self.provider = service, provider
        self.path = f"/sessions/{self.ask('POST', '/sessions', body)['id']}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        response = self.service.request(method, path, json=body)
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
        request = {
            "model": self._model.rpartition("/")[2],
            "system": view["system"],
            "tools": TOOLS,
            "messages": view["messages"],
        }
        headers = view["request_headers"]
        response = post(self.provider.url, json={**request, "max_tokens": 1_000}, headers=headers)
        if response.is_error:
            self.report(response.json(), view["version"])
            return self.call()
        content = response.json()["content"]
        self.append({"role": "assistant", "content": content}, usage={"version": view["version"], "input": 0})
        return [block["id"] for block in content if block["type"] == "tool_use"]

    def answer(self) -> None:
        """Have the model answer without calls."""
        self.provider.calls_tools = False
        assert self.call() == []
        self.provider.calls_tools = True

    def list(self, name: str) -> list[Any]:
        """All items of a list of the session's."""
        return items_of(self.service, f"{self.path}/{name}")

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
