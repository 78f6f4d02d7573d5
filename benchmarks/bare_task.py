"""A task of a plain Celery app with threads; the start of a job is measured against its start.

`python -m benchmarks.bare_task BROKER` is the worker.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any, Final

import redis
from celery import Celery
from celery.signals import worker_ready

TASK: Final = "benchmarks.arrive"
ARRIVALS: Final = "benchmarks-arrivals"
ARRIVE_SECONDS: Final = 60


def create_app(broker: str) -> Celery:
    """The Celery app of sender and worker; its one task reports when its body began."""
    app = Celery("bare", broker=broker)
    app.conf.worker_pool = "threads"
    client = redis.Redis.from_url(broker)

    @app.task(name=TASK)
    def arrive() -> None:
        now = monotonic()
        client.rpush(ARRIVALS, now)

    return app


class BareTask:
    """The sending end."""

    def __init__(self, broker: str) -> None:
        self._app = create_app(broker)
        self._client: Any = redis.Redis.from_url(broker)

    def way_seconds(self) -> float:
        """The seconds from the call that sends a task to the first line of its body."""
        sent = monotonic()
        self._app.send_task(TASK)
        _, arrived = self._client.blpop([ARRIVALS], timeout=ARRIVE_SECONDS)
        return float(arrived) - sent

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._app.close()


def main() -> None:
    """Take tasks until stopped."""
    worker_ready.connect(_say_ready)
    create_app(sys.argv[1]).worker_main(["worker"])


def _say_ready(**_: Any) -> None:
    sys.stderr.write("ready\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
