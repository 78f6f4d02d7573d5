"""How we reach a broker: kombu's connection, which tries again sooner, and its memory transport, one for each app.

Kombu keeps the memory transport's queues on the class, so two apps in one process would take each other's messages. A
subclass for each app has queues of its own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit, urlunsplit

from celery.app.amqp import AMQP
from kombu import Connection
from kombu.transport import memory
from kombu.transport.virtual.base import BrokerState

# A message waits half of this on average, and an idle worker takes under 1 % of a core. With kombu's own 1 s each
# summary would be that much later.
POLLING_SECONDS: Final = 0.02
# Celery's loop looks at its stop flag between drains, and asks for drains of 2 s.
DRAIN_SECONDS_MAX: Final = 0.1
# Pauses between tries to connect. Kombu's grow to 30 s, which is how long a worker would sit beside a broker that is
# back.
RETRY_SECONDS: Final = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 1.0}


class PatientConnection(Connection):
    """A connection that is tried again within a second, for as long as its user wants."""

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        return super().ensure_connection(*args, **{**RETRY_SECONDS, **options})


class PatientAMQP(AMQP):
    """What an app makes its connections with."""

    Connection = PatientConnection


def verified(url: str) -> str:
    """The address of a broker, whose certificate is looked at if it has one and the address does not say otherwise.

    Kombu would take any certificate, or with a transport of ours speak in plain text.
    """
    parts = urlsplit(url)
    if parts.scheme != "rediss" or "ssl_cert_reqs" in parse_qs(parts.query):
        return url
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, "ssl_cert_reqs=required")))))


def private_transport() -> type[memory.Transport]:
    """A memory transport that shares nothing with any other."""

    class PrivateChannel(memory.Channel):
        pass

    PrivateChannel.queues = {}
    PrivateChannel.events = defaultdict(set)

    class PrivateTransport(memory.Transport):
        Channel = PrivateChannel
        global_state = BrokerState()
        polling_interval = POLLING_SECONDS

        def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
            super().drain_events(connection, timeout=min(timeout or DRAIN_SECONDS_MAX, DRAIN_SECONDS_MAX))

    return PrivateTransport
