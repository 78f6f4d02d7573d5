"""Long conversations and a small context: what the server says of it is learned, and chunks are written and merged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.calls.endpoint import TooLong

from foldline.engine.overflow import verdict_of
from foldline.engine.tokens.counter import count_text
from tests.llm.calls import Traffic, client_of, summarizer
from tests.llm.conversations import SUMMARY_TOKENS, work
from tests.llm.llama_server import llama_server

pytestmark = pytest.mark.timeout(300)

CONTEXT_TOKENS: Final = 2_304
SAID_TOKENS: Final = 8_192
MODULES: Final = range(20)


def test_a_window_that_is_smaller_than_said_is_learned_from_the_server_and_kept_to() -> None:
    traffic, said = Traffic(), work(MODULES)
    with (
        llama_server(CONTEXT_TOKENS) as server,
        summarizer(server, Bounds(SAID_TOKENS, SAID_TOKENS), traffic) as llm,
    ):
        draft = llm.summarize(said.request, Cancellation())
    first, *chunks = traffic.requests
    (refusal,) = traffic.refusals
    verdict = verdict_of(refusal)
    assert verdict.is_overflow
    assert verdict.provider == "llama.cpp"
    assert verdict.limit_tokens == CONTEXT_TOKENS
    assert (verdict.actual_tokens or 0) > CONTEXT_TOKENS
    sizes = [count_text(asked.system + asked.user) + asked.max_tokens for asked in (first, *chunks)]
    assert sizes[0] > CONTEXT_TOKENS > max(sizes[1:])
    for number in MODULES:
        assert any(f"module_{number} " in asked.user for asked in chunks)
    assert "<earlier-summary" in chunks[-1].user
    assert f"- {said.rule}" in draft.text.splitlines()
    assert count_text(draft.text) <= SUMMARY_TOKENS


def test_calls_that_fill_the_context_together_are_refused_as_too_long() -> None:
    question = f"Write a long story. {' '.join(f'row {number}' for number in range(120))}"
    with (
        llama_server(512, parallel="-1") as server,
        client_of(server) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        calls = [threads.submit(client.complete, "You write.", question, 200, Cancellation()) for _ in range(2)]
        errors = [call.exception() for call in calls]
    assert any(isinstance(error, TooLong) for error in errors)
