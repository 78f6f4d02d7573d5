"""The broker in memory: a message wakes the worker that waits for one, and queues are private to each app."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from foldline_worker.broker import transport
from foldline_worker.broker.transport import private_transport
from kombu import Connection

from tests.support.eventually import eventually

QUEUE = "summaries"


def connected(kind: type[Any], received: list[object]) -> Connection:
    """A connection that collects the messages of the queue when it drains."""
    connection = Connection("memory://localhost", transport=kind)
    connection.Consumer(
        [connection.SimpleQueue(QUEUE).queue], callbacks=[lambda body, _: received.append(body)]
    ).consume()
    return connection


def test_a_message_ends_the_wait_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "DRAIN_SECONDS_MAX", 600.0)
    received: list[object] = []
    kind = private_transport()
    with connected(kind, received) as consumer, Connection("memory://localhost", transport=kind) as sender:
        waiting = Thread(target=consumer.drain_events, daemon=True)
        waiting.start()
        sender.SimpleQueue(QUEUE).put("one")
        eventually(lambda: received == ["one"])
        waiting.join()


def test_a_wait_without_a_message_ends_in_time() -> None:
    with connected(private_transport(), []) as consumer, pytest.raises(TimeoutError):
        consumer.drain_events(timeout=0.01)


def test_an_app_does_not_take_the_messages_of_another() -> None:
    received: list[object] = []
    with (
        connected(private_transport(), received) as other,
        Connection("memory://localhost", transport=private_transport()) as sender,
    ):
        sender.SimpleQueue(QUEUE).put("one")
        with pytest.raises(TimeoutError):
            other.drain_events(timeout=0.01)
    assert received == []
