"""Notifications become messages, and never block the caller."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import closing
from time import monotonic, perf_counter
from typing import Any

import pytest
from celery import Celery
from foldline_worker.app import create_celery
from foldline_worker.broker.notifier import ALONE_SECONDS, PASSED_ON_SECONDS, Notifier
from foldline_worker.broker.queues import MAINTENANCE, declared_queues
from foldline_worker.broker.transport import SOCKET_SECONDS
from kombu import Connection

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.settings import load_settings
from stack.services.servers import valkey
from tests.support.eventually import eventually

SOON = 5.0


@pytest.fixture
def app() -> Iterator[Celery]:
    with create_celery(load_settings(broker_url="memory://")) as app:
        yield app


@pytest.fixture
def connection(app: Celery) -> Iterator[Connection]:
    with app.connection_for_read() as connection:
        yield connection


def messages_in(connection: Connection, queue: str) -> list[tuple[str, dict[str, Any]]]:
    """(task, keyword arguments) of what waits in a queue."""
    (declared,) = [declared for declared in declared_queues() if declared.name == queue]
    bound = declared.bind(connection.default_channel)
    bound.declare()
    found = []
    while message := bound.get(no_ack=True):
        _, keywords, _ = json.loads(message.body or "")
        found.append((message.headers["task"], keywords))
    return found


def test_a_notification_is_a_message_by_task_name_and_keyword(app: Celery, connection: Connection) -> None:
    notifier = Notifier(app)
    notifier.start()
    for queue in (INTERACTIVE, BACKGROUND, MAINTENANCE):
        notifier.notify(queue)
    assert notifier.stop(SOON)
    assert messages_in(connection, INTERACTIVE) == [("foldline.summarize", {"queue": INTERACTIVE})]
    assert messages_in(connection, BACKGROUND) == [("foldline.summarize", {"queue": BACKGROUND})]
    assert messages_in(connection, MAINTENANCE) == [("foldline.sweep", {"queue": MAINTENANCE})]


def test_notifications_that_wait_are_one_message_for_each_queue(app: Celery, connection: Connection) -> None:
    notifier = Notifier(app)
    for _ in range(1000):
        notifier.notify(INTERACTIVE)
    notifier.start()
    assert notifier.stop(SOON)
    assert len(messages_in(connection, INTERACTIVE)) == 1


def test_an_unknown_queue_is_logged_and_the_notifier_goes_on(
    app: Celery, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    notifier = Notifier(app)
    notifier.notify("summarise.interactive")
    notifier.notify(INTERACTIVE)
    with caplog.at_level(logging.WARNING):
        notifier.start()
        assert notifier.stop(SOON)
    assert "no message sent to summarise.interactive: KeyError" in caplog.text
    assert len(messages_in(connection, INTERACTIVE)) == 1


def test_a_broker_that_never_answers_does_not_block_a_notification(caplog: pytest.LogCaptureFixture) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as frozen:
        app = create_celery(load_settings(broker_url=f"redis://127.0.0.1:{frozen.getsockname()[1]}/0"))
        notifier = Notifier(app)
        notifier.start()
        notifier.notify(INTERACTIVE)
        started = perf_counter()
        for _ in range(1000):
            notifier.notify(BACKGROUND)
        assert perf_counter() - started < SOCKET_SECONDS / 2
        assert not notifier.stop(0.2)
    assert notifier.stop(SOON)
    assert "does not answer" in caplog.text
    app.close()


def test_it_knows_whether_all_was_sent(app: Celery) -> None:
    nobody = create_celery(load_settings(broker_url="redis://127.0.0.1:1/0"))
    for broker, has_unsent in ((app, False), (nobody, True)):
        notifier = Notifier(broker)
        notifier.start()
        notifier.notify(INTERACTIVE)
        assert notifier.stop(SOON)
        assert notifier.has_unsent is has_unsent
    nobody.close()


@pytest.mark.parametrize("is_busy", [True, False])
@pytest.mark.parametrize("is_alone", [True, False])
def test_a_notification_that_is_passed_on_is_sent_a_moment_later(
    app: Celery, connection: Connection, *, is_alone: bool, is_busy: bool
) -> None:
    notifier = Notifier(app, is_alone=is_alone)
    notifier.start()
    notifier.notify(INTERACTIVE)
    eventually(lambda: messages_in(connection, INTERACTIVE))
    notifier.pass_on(INTERACTIVE, is_busy=is_busy)
    passed_on = monotonic()
    eventually(lambda: messages_in(connection, INTERACTIVE))
    least, most = (ALONE_SECONDS, 10.0) if is_alone and is_busy else (PASSED_ON_SECONDS, ALONE_SECONDS)
    assert least - 0.01 <= monotonic() - passed_on < most
    assert notifier.stop(SOON)


def test_a_new_notification_does_not_wait_for_one_that_is_passed_on(app: Celery, connection: Connection) -> None:
    notifier = Notifier(app)
    notifier.start()
    notifier.pass_on(INTERACTIVE, is_busy=False)
    notifier.notify(INTERACTIVE)
    eventually(lambda: messages_in(connection, INTERACTIVE), PASSED_ON_SECONDS)
    assert notifier.stop(SOON)
    assert messages_in(connection, INTERACTIVE) == []


def test_what_is_passed_on_is_sent_before_the_end(app: Celery, connection: Connection) -> None:
    notifier = Notifier(app)
    notifier.start()
    notifier.pass_on(BACKGROUND, is_busy=True)
    assert notifier.stop(SOON)
    assert len(messages_in(connection, BACKGROUND)) == 1


def test_a_notification_is_sent_when_the_broker_is_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with valkey(is_own=True) as broker, create_celery(load_settings(broker_url=broker.url)) as app:
        broker.kill()
        notifier = Notifier(app)
        notifier.start()
        for _ in range(3):
            notifier.notify(INTERACTIVE)
            eventually(lambda: "does not answer (ConnectionError)" in caplog.text)
        broker.start()
        with app.connection_for_read() as connection:
            eventually(lambda: messages_in(connection, INTERACTIVE), SOON)
        assert notifier.stop(SOON)
    assert caplog.text.count("does not answer") == 1
    assert f"the broker at {broker.url} is back" in caplog.text


def test_stopping_an_idle_notifier_is_immediate(app: Celery) -> None:
    notifier = Notifier(app)
    notifier.start()
    started = monotonic()
    assert notifier.stop(SOON)
    assert monotonic() - started < 1
