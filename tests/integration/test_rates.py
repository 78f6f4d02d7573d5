"""Requests and tokens a minute: a call over them waits, wherever the others were made."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.summarizers.calls.rates import MOST_WAIT_SECONDS, Rates

from stack.services.servers import valkey


class Impatient(Cancellation):
    """Cancelled as soon as it is to wait, which it remembers."""

    seconds = 0.0

    def wait(self, seconds: float) -> None:
        self.seconds = seconds
        raise Cancelled


def waits(rates: Rates, tokens: int = 100) -> bool:
    """Whether a call of so many tokens would have to wait; else it counts."""
    impatient = Impatient()
    with suppress(Cancelled):
        rates.wait(tokens, impatient)
    assert impatient.seconds <= MOST_WAIT_SECONDS
    return impatient.seconds > 0


@pytest.fixture(scope="module")
def broker_url() -> Iterator[str]:
    with valkey(is_own=True) as broker:
        yield broker.url


def test_requests_over_the_rate_wait() -> None:
    rates = Rates("fast", 3, None)
    assert [waits(rates) for _ in range(5)] == [False, False, False, True, True]


def test_tokens_over_the_rate_wait_and_smaller_calls_do_not() -> None:
    rates = Rates("fast", None, 1_000)
    assert [waits(rates, tokens) for tokens in (600, 600, 300, 200)] == [False, True, False, True]


def test_a_call_that_waits_for_its_tokens_counts_as_no_request() -> None:
    rates = Rates("fast", 2, 1_000)
    assert [waits(rates, tokens) for tokens in (900, 900, 900, 50)] == [False, True, True, False]


def test_a_call_larger_than_the_tokens_of_a_minute_is_made() -> None:
    rates = Rates("fast", None, 1_000)
    assert [waits(rates, 5_000) for _ in range(2)] == [False, True]


def test_requests_and_tokens_of_the_same_number_are_counted_apart() -> None:
    rates = Rates("fast", 1_000, 1_000)
    assert [waits(rates, tokens) for tokens in (900, 99)] == [False, False]


def test_processes_with_one_broker_share_the_rates_of_each_summarizer(broker_url: str) -> None:
    first, second = (Rates("shared", 3, 10_000, broker_url) for _ in range(2))
    assert [waits(rates) for rates in (first, second, first, second, first)] == [False, False, False, True, True]
    assert not waits(Rates("spare", 3, 10_000, broker_url))


def test_a_broker_that_is_away_leaves_the_rates_to_each_process(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    rates = Rates("fast", 1, None, f"redis://127.0.0.1:{port}/0")
    assert [waits(rates) for _ in range(2)] == [False, True]
    assert "counted in this process" in caplog.text
