"""What summarizers may use for a tenant in a day: above it the ledger alone is the summary, and nothing else changes.

A budget begins with its first call, so no day ends in the middle of a test.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from threading import Event
from time import perf_counter
from typing import Any

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.summarizers.calls.budgets import ANSWER_SECONDS, TOKENS, Budgets
from foldline_worker.summarizers.calls.endpoint import EndpointError
from foldline_worker.summarizers.contract import ProviderDeclined, SummarizerUnavailable
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.registry import create_summarizer
from foldline_worker.summarizers.wires import WIRES
from limits import RateLimitItemPerDay
from limits.storage import MemoryStorage

from foldline.engine.messages import user
from foldline.engine.models.prices import Prices
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.summaries.provider_block import ProviderCall
from foldline.engine.tokens.counter import count_text
from foldline.engine.wire import dumps
from foldline.settings import Settings, load_settings
from foldline.telemetry.metrics import Metrics
from stack.services.servers import BackingService, valkey
from tests.support.eventually import eventually
from tests.support.processes.api import open_api
from tests.support.processes.databases import only_sqlite
from tests.support.processes.scripted_llm import (
    DROPPED,
    DROPPED_MIDWAY,
    NOT_JSON,
    OVERFLOW,
    SERVER_ERROR,
    Reply,
    ScriptedLLM,
    rate_limited,
    slow,
)

# The log is the same on every kind.
database_kind = only_sqlite

REQUEST = SummaryInput((), (user("Rename the parser to reader, and keep the old name as an alias."),), 300, payer="ann")
OF_BOB = replace(REQUEST, payer="bob")
USED = {"input": 900, "output": 100}


def named(model: ScriptedLLM, **given: Any) -> Settings:
    # A dollar for a token.
    row = {"model": "m", "base_url": model.base_url, "input_price": 1e6, "output_price": 1e6}
    return load_settings(summarizer="fast", summarizers=json.dumps({"fast": row}), **given)


@pytest.mark.parametrize("budget", ["tenant_summary_tokens_per_day", "tenant_summary_usd_per_day"])
def test_a_tenant_whose_budget_is_spent_gets_summaries_of_the_ledger_alone(budget: str) -> None:
    metrics = Metrics()
    with (
        ScriptedLLM() as model,
        closing(create_summarizer(named(model, **{budget: 1}), metrics=metrics)) as summarizer,
    ):
        drafts = [summarizer.summarize(request, Cancellation()) for request in (REQUEST, REQUEST, OF_BOB)]
    assert [draft.summarizer for draft in drafts] == ["fast", "extractive", "fast"]
    assert [draft.degraded for draft in drafts] == [False, True, False]
    assert "Rename the parser" in drafts[1].text
    assert f'foldline_tenant_limited_total{{limit="{budget}"}} 1.0' in metrics.text({}, None).decode()


def test_what_a_summary_used_that_was_not_written_counts_too() -> None:
    two_parts = replace(REQUEST, turn_prefix=(user("Then update the docs."),), max_tokens=2_000)
    with (
        ScriptedLLM(Reply(), Reply(text="no", status=403)) as model,
        closing(create_summarizer(named(model, tenant_summary_tokens_per_day=1))) as summarizer,
    ):
        with pytest.raises(SummarizerUnavailable):
            summarizer.summarize(two_parts, Cancellation())
        assert written_by(summarizer.summarize(REQUEST, Cancellation())) == "extractive"


SENT = ("Summarize.", "Rename the parser to reader.")
PROMPT_TOKENS = sum(map(count_text, SENT))
UNCOUNTED = {"choices": [{"message": {"content": "It was renamed."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("reply", "written"),
    [
        (Reply(text="It was renamed."), "It was renamed."),
        (Reply(raw=dumps(UNCOUNTED)), "It was renamed."),
        (replace(DROPPED_MIDWAY, text="It was renamed."), "It w"),
        (DROPPED, ""),
        (NOT_JSON, ""),
    ],
)
def test_a_call_costs_what_was_sent_and_written_whatever_becomes_of_it(reply: Reply, written: str) -> None:
    assert spent_on(reply) == [{"input": PROMPT_TOKENS, "output": count_text(written)}]


@pytest.mark.parametrize("reply", [OVERFLOW, SERVER_ERROR, rate_limited(None)])
def test_a_call_that_is_refused_costs_nothing(reply: Reply) -> None:
    assert spent_on(reply) == []


def spent_on(reply: Reply) -> list[Mapping[str, int]]:
    """What is spent on a call that gets this reply."""
    spent: list[Mapping[str, int]] = []
    with ScriptedLLM(reply) as model, client_of(model) as client, suppress(EndpointError):
        client.complete(*SENT, 100, Cancellation(), spend=spent.append)
    return spent


def client_of(model: ScriptedLLM) -> ModelClient:
    return ModelClient(WIRES["openai-chat"], base_url=model.base_url, api_key=None, model="m", timeout_seconds=10)


def test_a_call_that_is_cancelled_counts_and_one_that_finds_no_server_does_not() -> None:
    settings = load_settings(tenant_summary_tokens_per_day=1)
    budgets, cancellation = Budgets.of(settings), Cancellation()
    spend = partial(budgets.spend, "ann", prices=None)
    with ScriptedLLM(slow(60)) as model, client_of(model) as client, ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.complete, *SENT, 100, cancellation, spend=spend)
        eventually(lambda: model.requests)
        assert budgets.spent("ann") is None
        cancellation.cancel()
        assert isinstance(call.exception(), Cancelled)
        assert budgets.spent("ann") is not None
    spend = partial(budgets.spend, "bob", prices=None)
    with client_of(model) as client, pytest.raises(EndpointError):
        client.complete(*SENT, 100, Cancellation(), spend=spend)
    assert budgets.spent("bob") is None


def test_a_summary_by_an_endpoint_that_does_not_say_what_it_used_counts_too() -> None:
    with (
        ScriptedLLM(Reply(raw=dumps(UNCOUNTED))) as model,
        closing(create_summarizer(named(model, tenant_summary_tokens_per_day=1))) as summarizer,
    ):
        summarizer.summarize(REQUEST, Cancellation())
        assert written_by(summarizer.summarize(REQUEST, Cancellation())) == "extractive"


def written_by(draft: SummaryDraft) -> str:
    return draft.summarizer


def test_0_sets_no_budget_and_a_ledger_needs_none() -> None:
    with ScriptedLLM() as model:
        free = named(model, tenant_summary_tokens_per_day=0, tenant_summary_usd_per_day=0)
        with closing(create_summarizer(free)) as summarizer:
            assert [written_by(summarizer.summarize(REQUEST, Cancellation())) for _ in range(3)] == ["fast"] * 3
    metrics = Metrics()
    settings = load_settings(tenant_summary_tokens_per_day=1)
    Budgets.of(settings).spend("ann", USED, None)
    with closing(create_summarizer(settings, metrics=metrics)) as summarizer:
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded


def test_a_models_own_provider_is_not_asked_once_the_budget_is_spent() -> None:
    call = ProviderCall("anthropic", "claude-sonnet-4-5", None, (), ())
    with ScriptedLLM() as model:
        settings = named(
            model, tenant_summary_tokens_per_day=1, anthropic_api_key="k", anthropic_base_url="http://127.0.0.1:9"
        )
        with closing(create_summarizer(settings)) as summarizer:
            summarizer.summarize(REQUEST, Cancellation())
            with pytest.raises(ProviderDeclined, match="spent for today"):
                summarizer.summarize(replace(REQUEST, provider=call), Cancellation())


@pytest.mark.parametrize(
    ("compactor", "answer"),
    [
        ("anthropic", {"stop_reason": "end_turn", "content": [], "usage": {"input_tokens": 900, "output_tokens": 9}}),
        ("openai", {"output": [], "usage": {"input_tokens": 900, "output_tokens": 9}}),
    ],
)
def test_a_models_own_provider_costs_what_it_used_for_no_summary_too(compactor: str, answer: Mapping[str, Any]) -> None:
    call = ProviderCall(compactor, "m", None, (), ())
    with ScriptedLLM(Reply(raw=dumps(answer))) as model:
        keys = {f"{compactor}_api_key": "k", f"{compactor}_base_url": model.base_url}
        with closing(create_summarizer(named(model, tenant_summary_tokens_per_day=1, **keys))) as summarizer:
            for expected in ("has none", "spent for today"):
                with pytest.raises(ProviderDeclined, match=expected):
                    summarizer.summarize(replace(REQUEST, provider=call), Cancellation())


def test_the_jobs_of_a_tenant_are_counted_together(database: str) -> None:
    with (
        ScriptedLLM() as model,
        open_api(database) as api,
        EmbeddedWorker(load_settings(), api.store, create_summarizer(named(model, tenant_summary_tokens_per_day=1))),
    ):
        degraded = []
        for _ in range(2):
            session = api.session(auto_compact=False)
            api.fill(session, 5)
            asked = api.post(f"{session}/compact", {"summarize": True}, prefer="wait=30")
            degraded.append(asked["job"]["degraded"])
    assert degraded == [False, True]


@pytest.fixture(scope="module")
def broker() -> Iterator[BackingService]:
    with valkey(is_own=True) as service:
        yield service


class LateToAnswer(MemoryStorage):
    """A storage that is asked for a total, and answers late."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read, self.may_answer = Event(), Event()

    def get(self, key: str) -> int:
        found = super().get(key)
        if not self.is_read.is_set():
            self.is_read.set()
            self.may_answer.wait(timeout=30)
        return found


def test_a_late_look_does_not_hide_what_was_spent_meanwhile() -> None:
    storage = LateToAnswer()
    budgets = Budgets({TOKENS: RateLimitItemPerDay(100, namespace=TOKENS)}, (storage,))
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(budgets.spent, "ann")
        storage.is_read.wait()
        budgets.spend("ann", {"input": 150}, None)
        storage.may_answer.set()
        assert late.result() is not None
    assert budgets.spent("ann") is not None


def test_workers_with_one_broker_share_budgets(broker: BackingService) -> None:
    settings = load_settings(broker_url=broker.url, tenant_summary_tokens_per_day=1_500, tenant_summary_usd_per_day=2)
    first, second = (Budgets.of(settings) for _ in range(2))
    first.spend("ann", USED, None)
    assert second.spent("ann") is None
    second.spend("ann", USED, None)
    met = second.spent("ann")
    assert met is not None
    # What the other process spent is seen soon, not at once.
    eventually(lambda: first.spent("ann") == met)
    assert first.spent("bob") is None
    first.spend("bob", USED, Prices(input=2_500, output=0))
    found = second.spent("bob")
    assert found is not None
    assert found.setting == "tenant_summary_usd_per_day"


def test_a_broker_that_is_away_leaves_budgets_to_each_worker(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = load_settings(broker_url=f"redis://127.0.0.1:{port}/0", tenant_summary_tokens_per_day=1_000)
    first, second = (Budgets.of(settings) for _ in range(2))
    first.spend("ann", USED, None)
    assert first.spent("ann") is not None
    assert second.spent("ann") is None
    assert "counted in this process" in caplog.text


def test_a_frozen_broker_holds_up_one_look_for_a_moment(broker: BackingService) -> None:
    budgets = Budgets.of(load_settings(broker_url=broker.url))
    budgets.spend("ann", USED, None)
    broker.freeze()
    try:
        began = perf_counter()
        assert [budgets.spent("ann") for _ in range(5)] == [None] * 5
        assert ANSWER_SECONDS <= perf_counter() - began < 2 * ANSWER_SECONDS
    finally:
        broker.thaw()
