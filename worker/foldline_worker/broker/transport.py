"""Connections to the broker: with faster retries than kombu's, and a memory transport for each app.

Kombu keeps the memory transport's queues on the class, so two apps in one process would take each other's messages. A
subclass for each app has queues of its own.
"""

from __future__ import annotations

from collections import defaultdict
from threading import Event
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit, urlunsplit

from celery.app.amqp import AMQP
from kombu import Connection
from kombu.transport import memory
from kombu.transport.virtual.base import BrokerState

# A broker that accepts connections and never answers may delay a sender only for this long.
SOCKET_SECONDS: Final = 5.0
# Celery's loop checks its stop flag between drains, and its drains take 2 s.
DRAIN_SECONDS_MAX: Final = 0.1
# Pauses between attempts to connect. Kombu's grow to 30 s, so a worker would be idle that long after an outage.
RETRY_SECONDS: Final = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 1.0}


class PatientConnection(Connection):
    """A connection that is retried at least once a second."""

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        return super().ensure_connection(*args, **{**RETRY_SECONDS, **options})


class PatientAMQP(AMQP):
    """Celery's AMQP class with `PatientConnection`."""

    Connection = PatientConnection


def verified(url: str) -> str:
    """The broker's URL; for TLS, with an option to verify the certificate unless the URL has one already.

    By default kombu accepts any certificate, and with a custom transport it does not use TLS at all.
    """
    parts = urlsplit(url)
    if parts.scheme != "rediss" or "ssl_cert_reqs" in parse_qs(parts.query):
        return url
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, "ssl_cert_reqs=required")))))


def private_transport() -> type[memory.Transport]:
    """A new memory transport class with queues of its own."""
    has_message = Event()

    class PrivateChannel(memory.Channel):
        def _put(self, *message: Any, **options: Any) -> None:
            super()._put(*message, **options)
            has_message.set()

    PrivateChannel.queues = {}
    PrivateChannel.events = defaultdict(set)

    class PrivateTransport(memory.Transport):
        Channel = PrivateChannel
        global_state = BrokerState()

        def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
            # Kombu polls: a message would wait for half an interval, and an idle worker would not sleep.
            has_message.clear()
            try:
                super().drain_events(connection, timeout=0)
            except TimeoutError:
                if not has_message.wait(min(timeout or DRAIN_SECONDS_MAX, DRAIN_SECONDS_MAX)):
                    raise
                super().drain_events(connection, timeout=0)

    return PrivateTransport
