"""A task of a plain Celery app with threads, which calls a model; the start of a job is measured against its start.

`python -m benchmarks.bare_task BROKER MODEL` is the worker; MODEL is the address of the model.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any, Final

import httpx
from celery import Celery
from celery.signals import worker_ready

from benchmarks.work import SAID, Summarizer

TASK: Final = "benchmarks.call"
CALL_SECONDS: Final = 60.0
REQUEST: Final = {"model": "slow", "messages": SAID, "max_tokens": 500, "stream": True}


def create_app(broker: str, model: str = "") -> Celery:
    """The Celery app of sender and worker; its one task calls the model, with a client that keeps its connections."""
    app = Celery("bare", broker=broker)
    app.conf.worker_pool = "threads"
    client = httpx.Client(base_url=model, timeout=CALL_SECONDS, trust_env=False)

    @app.task(name=TASK)
    def call() -> None:
        client.post("/v1/chat/completions", json=REQUEST).raise_for_status()

    return app


class BareTask:
    """The sending end."""

    def __init__(self, broker: str, llm: Summarizer) -> None:
        self._app = create_app(broker)
        self._llm = llm

    def seconds(self) -> float:
        """The seconds from the call that sends a task to the first byte of its request at the model."""
        sent = monotonic()
        self._app.send_task(TASK)
        return self._llm.arrival_after(sent) - sent

    def close(self) -> None:
        """Close the connections."""
        self._app.close()


def main() -> None:
    """Take tasks until stopped."""
    worker_ready.connect(_say_ready)
    create_app(*sys.argv[1:]).worker_main(["worker"])


def _say_ready(**_: Any) -> None:
    sys.stderr.write("ready\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
