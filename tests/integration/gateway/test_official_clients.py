"""The official Python clients of Anthropic and OpenAI work through the gateway as they do without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import anthropic
import openai
import pytest

from tests.integration.gateway.test_gateway import gateway_to
from tests.support.gateway_agents import RESULT, SYSTEM
from tests.support.processes.agent_provider import AgentProvider, agent_provider

Json = dict[str, Any]
WINDOW: Final = 8_000
TURNS: Final = 10
FURTHER: Final = 4
MODEL: Final = "nobody/nothing"
KEY: Final = "sk-made-up"
SCHEMA: Final = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
FUNCTION: Final = {"name": "read", "description": "Read a part.", "parameters": SCHEMA, "strict": True}


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[AgentProvider, str]]:
    with agent_provider() as provider, gateway_to(provider, gateway_context_window=WINDOW) as address:
        yield provider, address


@pytest.fixture
def provider(shared: tuple[AgentProvider, str]) -> Iterator[AgentProvider]:
    provider, _ = shared
    provider.window, provider.refusals, provider.invalid = WINDOW, 0, []
    yield provider
    provider.failure = None


@pytest.fixture
def gateway(shared: tuple[AgentProvider, str]) -> str:
    return shared[1]


def of_anthropic(address: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=f"{address}/anthropic", api_key=KEY, max_retries=0)


def of_openai(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/openai/v1", api_key=KEY, max_retries=0)


def messages_turn(address: str, history: list[Any], *, is_streamed: bool) -> str:
    """The path that the model asks for, after an answer and the result of its call joined the history."""
    tools: Any = [{"name": "read", "description": "Read a part.", "input_schema": SCHEMA}]
    asked: Any = {"model": MODEL, "max_tokens": 500, "system": SYSTEM, "tools": tools, "messages": history}
    with of_anthropic(address) as client:
        if is_streamed:
            with client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
    call: Any = message.content[-1]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": RESULT * 2}
    history += [{"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    return str(call.input["path"])


def chat_turn(address: str, history: list[Any], *, is_streamed: bool) -> str:
    """As `messages_turn`."""
    tools = [{"type": "function", "function": FUNCTION}]
    system = {"role": "system", "content": SYSTEM}
    asked: Any = {"model": MODEL, "max_completion_tokens": 500, "tools": tools, "messages": [system, *history]}
    with of_openai(address) as client:
        if is_streamed:
            with client.chat.completions.stream(**asked) as stream:
                completion: Any = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**asked)
    message = completion.choices[0].message
    (call,) = message.tool_calls
    kept = message.to_dict()
    history += [kept, {"role": "tool", "tool_call_id": call.id, "content": RESULT * 2}]
    return str(json.loads(call.function.arguments)["path"])


def responses_turn(address: str, history: list[Any], *, is_streamed: bool) -> str:
    """As `messages_turn`."""
    tools = [{"type": "function", **FUNCTION}]
    asked: Any = {"model": MODEL, "max_output_tokens": 500, "instructions": SYSTEM, "tools": tools, "store": False}
    asked["input"] = history
    with of_openai(address) as client:
        if is_streamed:
            with client.responses.stream(**asked) as stream:
                response: Any = stream.get_final_response()
        else:
            response = client.responses.create(**asked)
    (call,) = response.output
    kept = {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
    history += [kept, {"type": "function_call_output", "call_id": call.call_id, "output": RESULT * 2}]
    return str(json.loads(call.arguments)["path"])


@pytest.mark.parametrize("refuses_late", [False, True], ids=["at once", "in the stream"])
@pytest.mark.parametrize("turn", [messages_turn, chat_turn, responses_turn])
def test_a_loop_of_tools_goes_on_beyond_the_window_and_sees_no_refusal(
    gateway: str, provider: AgentProvider, turn: Callable[..., str], *, refuses_late: bool
) -> None:
    provider.refuses_late = refuses_late
    history: list[Any] = [{"role": "user", "content": f"Read all parts, by {turn.__name__}, {refuses_late}."}]
    before = len(provider.requests)
    paths = [turn(gateway, history, is_streamed=bool(number % 2)) for number in range(TURNS)]
    assert provider.refusals == 0
    provider.window = WINDOW // 2
    paths += [turn(gateway, history, is_streamed=bool(number % 2)) for number in range(FURTHER)]
    assert (len(set(paths)), provider.invalid) == (TURNS + FURTHER, [])
    assert provider.refusals > 0
    assert len(provider.requests) - before == TURNS + FURTHER + provider.refusals
    assert len(json.dumps(provider.requests[-1])) < len(str(history)) / 2


def test_counts_and_models_are_the_providers(gateway: str, provider: AgentProvider) -> None:
    with of_anthropic(gateway) as client:
        said: Any = [{"role": "user", "content": "Hello."}]
        assert client.messages.count_tokens(model=MODEL, messages=said).input_tokens == 7
        assert [model.id for model in client.models.list()] == ["scripted"]
    with of_openai(gateway) as other:
        assert [model.id for model in other.models.list()] == ["scripted"]


def ask_anthropic(address: str) -> object:
    with of_anthropic(address) as client:
        return client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Hello."}])


def ask_chat(address: str) -> object:
    with of_openai(address) as client:
        return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Hello."}])


def ask_responses(address: str) -> object:
    with of_openai(address) as client:
        said: Any = [{"role": "user", "content": "Hello."}]
        return client.responses.create(model=MODEL, input=said, stream=True)


FAILURES: Final = {429: "RateLimitError", 401: "AuthenticationError", 500: "InternalServerError"}
CALLS: Final = [(anthropic, ask_anthropic), (openai, ask_chat), (openai, ask_responses)]


@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize(("library", "ask"), CALLS)
def test_an_error_of_the_provider_is_the_clients_own(
    gateway: str, provider: AgentProvider, library: Any, ask: Callable[[str], object], status: int
) -> None:
    said = {"type": "error", "error": {"type": "made_up", "message": f"This is {status}.", "code": None, "param": 1.5}}
    provider.failure = status, json.dumps(said).encode()
    with pytest.raises(getattr(library, FAILURES[status])) as raised:
        ask(gateway)
    assert raised.value.status_code == status
    assert raised.value.response.content == provider.failure[1]
    assert raised.value.response.headers["request-id"].startswith("req_")
    assert f"This is {status}." in str(raised.value)


@pytest.mark.parametrize(("library", "ask"), CALLS)
def test_a_provider_that_is_away_is_an_error_of_the_client(library: Any, ask: Callable[[str], object]) -> None:
    with gateway_to(AgentProvider(url="http://127.0.0.1:9")) as address:
        with pytest.raises(library.InternalServerError) as raised:
            ask(address)
        assert "address does not answer" in str(raised.value)
