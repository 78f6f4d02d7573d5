"""The broker inside a process: kombu's memory transport, one of its own for each app.

Kombu keeps the memory transport's queues on the class, so two apps in one process would take each other's messages. A
subclass for each app has queues of its own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from kombu.transport import memory
from kombu.transport.virtual.base import BrokerState

# A message waits half of this on average, and an idle worker takes under 1 % of a core. With kombu's own 1 s each
# summary would be that much later.
POLLING_SECONDS: Final = 0.02
# Celery's loop looks at its stop flag between drains, and asks for drains of 2 s.
DRAIN_SECONDS_MAX: Final = 0.1


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
