"""Agents that know nothing of Foldline: each sends its whole history with every request, as its own way is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.processes.agent_provider import APIS
from tests.support.processes.http import post

Json = dict[str, Any]
SYSTEM = "You are a coding agent. Never push to the branch main."
RESULT = "value = 1\nother = value + 1\n" * 60


@dataclass
class WholeHistoryAgent:
    """An agent of the API at `path`; `answers` are the responses that it got, `fields` are in each of its requests."""

    url: str
    path: str
    model: str = "nobody/nothing"
    headers: dict[str, str] = field(default_factory=dict)
    fields: Json = field(default_factory=dict)
    history: list[Json] = field(default_factory=list)
    answers: list[httpx.Response] = field(default_factory=list)

    @property
    def body(self) -> Json:
        """The request with the whole history."""
        if self.path == "/v1/messages":
            # Its mark is on the last block of each request, wherever that is.
            *before, last = self.history
            blocks = last["content"] if isinstance(last["content"], list) else [_text(last["content"])]
            marked = {**last, "content": [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]}
            return {"model": self.model, "max_tokens": 1000, "system": SYSTEM, "messages": [*before, marked]}
        if self.path == "/v1/responses":
            return {"model": self.model, "store": False, "instructions": SYSTEM, "input": self.history}
        return {"model": self.model, "messages": [{"role": "system", "content": SYSTEM}, *self.history]}

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def call(self, **fields: Any) -> httpx.Response:
        """Send the history, and do what the answer asks for."""
        body = {**self.body, **self.fields, **fields}
        response = post(self.url + self.path, json=body, headers=self.headers, timeout=60)
        self.answers.append(response)
        if response.is_success and not fields.get("stream"):
            self.do(response.json())
        return response

    def do(self, answer: Json) -> None:
        """What an answer asks for."""
        self.history += _done(APIS[self.path].format, answer)

    def work(self, turns: int) -> None:
        for _ in range(turns):
            response = self.call()
            assert response.is_success, response.text


def session_of(agent: WholeHistoryAgent) -> str:
    """The session of the agent's last answer."""
    session: str = agent.answers[-1].headers["x-foldline-session"]
    return session


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _done(format_name: str, answer: Json) -> list[Json]:
    """The answer as the agent keeps it, and the result of its call."""
    if format_name == "anthropic":
        call = answer["content"][-1]
        if call["type"] == "text":
            return [{"role": "assistant", "content": answer["content"]}]
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": f"# {call['input']['path']}\n{RESULT}"}
        return [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": [result]}]
    if format_name == "responses":
        (call,) = answer["output"]
        if call["type"] == "message":
            return [{"role": "assistant", "content": call["content"][0]["text"]}]
        kept = {key: value for key, value in call.items() if key not in {"id", "status"}}
        return [kept, {"type": "function_call_output", "call_id": call["call_id"], "output": RESULT}]
    message = answer["choices"][0]["message"]
    if "tool_calls" not in message:
        return [message]
    (call,) = message["tool_calls"]
    return [message, {"role": "tool", "tool_call_id": call["id"], "content": RESULT}]
