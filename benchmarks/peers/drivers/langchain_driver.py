"""LangChain: `trim_messages` with its approximate counter, and a session under the middleware that summarizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain.agents.middleware import AgentState, SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, convert_to_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph.message import add_messages

from benchmarks.peers.drivers.timing import Job, Work, serve, transcript, until_each_call

# The summarizer answers at once.
SUMMARY = "The work so far. " * 100


def _trim(job: Job) -> Callable[[], Work]:
    messages = convert_to_messages(transcript(job))

    def work() -> Any:
        return trim_messages(
            messages,
            max_tokens=job["target"],
            token_counter=count_tokens_approximately,
            strategy="last",
            include_system=True,
            # Providers refuse a result without its call.
            start_on=("human", "ai"),
        )

    return lambda: work


def _session(job: Job) -> Callable[[], Work]:
    wire = transcript(job)
    middleware = SummarizationMiddleware(
        FakeListChatModel(responses=[SUMMARY]),
        trigger=("tokens", job["trigger"]),
        keep=("tokens", job["target"]),
        summarizer=lambda _messages: SUMMARY,
    )

    def prepare() -> Work:
        groups = list(until_each_call(convert_to_messages(wire), lambda message: isinstance(message, AIMessage)))

        def work() -> list[Any]:
            messages: list[AnyMessage] = []
            for group in groups:
                # The reducer of an agent's state.
                messages = cast("list[AnyMessage]", add_messages(messages, group))
                update = middleware.before_model(cast("AgentState[Any]", {"messages": messages}), cast("Any", None))
                if update is not None:
                    messages = cast("list[AnyMessage]", add_messages(messages, update["messages"]))
            return messages

        return work

    return prepare


def _characters(messages: list[Any]) -> int:
    return sum(len(message.content) + len(str(getattr(message, "tool_calls", ""))) for message in messages)


if __name__ == "__main__":
    serve({"compact": _trim, "session": _session}, _characters)
