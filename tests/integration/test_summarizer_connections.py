"""Connections of summarizers that call a model: they are used again, and whoever ends a call ends no other one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from time import monotonic

import httpx
import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.calls import connections
from foldline_worker.summarizers.calls.connections import Connections, EndpointCall
from foldline_worker.summarizers.calls.endpoint import EndpointUnavailable
from foldline_worker.summarizers.contract import SummarizerUnavailable
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.wires import WIRES

from tests.integration.test_summarizers import REQUEST, asking
from tests.support.eventually import eventually
from tests.support.processes.scripted_llm import DROPPED, Reply, ScriptedLLM


@contextmanager
def opened() -> Iterator[Connections]:
    found = Connections(lambda: httpx.Client(trust_env=False))
    yield found
    found.close()


def post(call: EndpointCall, llm: ScriptedLLM) -> int:
    body = {"messages": [{"role": "user", "content": "Hello."}]}
    with call.http.stream(
        "POST", f"{llm.base_url}/chat/completions", json=body, extensions={"trace": call.trace}
    ) as sent:
        sent.read()
    return sent.status_code


@pytest.mark.parametrize("reply", [Reply(), Reply(ignores_stream=True)], ids=["streamed", "whole"])
def test_calls_one_after_the_other_have_one_connection(reply: Reply) -> None:
    with ScriptedLLM(default=reply) as llm, asking(llm.base_url) as summarizer:
        for _ in range(5):
            assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert (len(llm.requests), llm.connections) == (5, 1)


def test_calls_at_the_same_time_have_connections_of_their_own() -> None:
    with ScriptedLLM(default=Reply(delay_seconds=0.2)) as llm, asking(llm.base_url) as summarizer:
        threads = [Thread(target=summarizer.summarize, args=(REQUEST, Cancellation())) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert llm.connections == llm.most_at_once == 3


def test_a_refusal_does_not_cost_the_connection() -> None:
    with ScriptedLLM(Reply(text="no", status=403)) as llm, asking(llm.base_url) as summarizer:
        with pytest.raises(SummarizerUnavailable):
            summarizer.summarize(REQUEST, Cancellation())
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert llm.connections == 1


@pytest.mark.parametrize("reply", [Reply(closes=True), DROPPED], ids=["closed", "dropped"])
def test_a_server_that_closes_connections_gets_new_ones(reply: Reply) -> None:
    with ScriptedLLM(Reply(), reply) as llm, asking(llm.base_url) as summarizer:
        for _ in range(3):
            assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert llm.connections == 2


def spent_until_dropped(*replies: Reply) -> list[Mapping[str, int]]:
    """The tokens of one call after the other, the last of which is dropped."""
    spent: list[Mapping[str, int]] = []
    with (
        ScriptedLLM(*replies, DROPPED) as llm,
        ModelClient(WIRES["openai-chat"], base_url=llm.base_url, api_key=None, model="m", timeout_seconds=5) as client,
    ):
        for _ in replies:
            client.complete("Be brief.", "Hello.", 50, Cancellation(), spend=spent.append)
        with pytest.raises(EndpointUnavailable):
            client.complete("Be brief.", "Hello.", 50, Cancellation(), spend=spent.append)
    return spent


def test_a_kept_connection_that_ends_before_an_answer_costs_nothing() -> None:
    assert len(spent_until_dropped()) == 1
    assert len(spent_until_dropped(Reply())) == 1


def test_an_answer_whose_end_does_not_come_is_there_all_the_same() -> None:
    with ScriptedLLM(Reply(end_delay_seconds=30)) as llm, asking(llm.base_url, timeout_seconds=60) as summarizer:
        began = monotonic()
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
        assert monotonic() - began < 5
        eventually(lambda: llm.disconnects == 1)
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert (len(llm.requests), llm.connections) == (2, 2)


@pytest.mark.parametrize("reply", [Reply(delay_seconds=30), Reply(piece_delay_seconds=30)], ids=["silent", "streaming"])
def test_a_call_that_takes_too_long_ends_its_connection(reply: Reply) -> None:
    with ScriptedLLM(default=reply) as llm, asking(llm.base_url, timeout_seconds=0.5) as summarizer:
        with pytest.raises(SummarizerUnavailable):
            summarizer.summarize(REQUEST, Cancellation())
        eventually(lambda: llm.disconnects == len(llm.requests), 5)


def test_a_call_that_is_ended_late_leaves_the_next_one_alone() -> None:
    with ScriptedLLM() as llm, opened() as found:
        connection = found.take()
        first = EndpointCall(connection)
        assert post(first, llm) == 200
        first.end()
        found.give_back(connection)
        second = EndpointCall(found.take())
        first.cut()
        assert post(second, llm) == 200
        second.end()
        found.give_back(connection)
    assert llm.connections == 1


def test_a_connection_that_was_long_without_a_call_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedLLM() as llm, asking(llm.base_url) as summarizer:
        summarizer.summarize(REQUEST, Cancellation())
        monkeypatch.setattr(connections, "IDLE_SECONDS", -1.0)
        summarizer.summarize(REQUEST, Cancellation())
    assert llm.connections == 2
