"""A call that is cancelled ends on the server too."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.summarizers.bounds import Bounds

from tests.llm.calls import Traffic, summarizer
from tests.llm.conversations import CONVERSATIONS
from tests.llm.llama_server import LlamaServer, llama_server
from tests.support.eventually import eventually

pytestmark = pytest.mark.timeout(120)

CONTEXT_TOKENS: Final = 4_096
# With it no answer is complete before it has all tokens that were asked for.
ENDLESS: Final = "root ::= [a-z ] root"
REQUEST: Final = replace(CONVERSATIONS["code"].request, max_tokens=CONTEXT_TOKENS)
START_SECONDS: Final = 60.0
END_SECONDS: Final = 5.0


@pytest.mark.parametrize(
    "has_begun",
    [lambda server, _: not server.is_idle, lambda _, traffic: len(traffic.events) > 1],
    ids=["reading", "writing"],
)
def test_a_cancelled_call_ends_on_the_server_too(has_begun: Callable[[LlamaServer, Traffic], bool]) -> None:
    traffic, cancellation = Traffic(), Cancellation()
    with (
        llama_server(CONTEXT_TOKENS, grammar=ENDLESS) as server,
        summarizer(server, Bounds(CONTEXT_TOKENS, CONTEXT_TOKENS), traffic) as llm,
        ThreadPoolExecutor(1) as thread,
    ):
        call = thread.submit(llm.summarize, REQUEST, cancellation)
        eventually(lambda: has_begun(server, traffic), START_SECONDS)
        cancellation.cancel()
        assert isinstance(call.exception(END_SECONDS), Cancelled)
        eventually(lambda: server.is_idle, END_SECONDS)
    assert len(traffic.requests) == 1
