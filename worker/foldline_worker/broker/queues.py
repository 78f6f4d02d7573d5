"""The broker's queues and the task of each. Tasks are named and queues declared only here."""

from __future__ import annotations

from typing import Final

from kombu import Exchange, Queue

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE

MAINTENANCE: Final = "maintenance"

SUMMARIZE: Final = "foldline.summarize"
SWEEP: Final = "foldline.sweep"

TASK_BY_QUEUE: Final = {INTERACTIVE: SUMMARIZE, BACKGROUND: SUMMARIZE, MAINTENANCE: SWEEP}


def declared_queues() -> list[Queue]:
    """The kombu queues, on one direct exchange; durable, so that they outlast a restart of the broker."""
    exchange = Exchange("foldline", type="direct", durable=True)
    return [Queue(name, exchange, routing_key=name, durable=True) for name in TASK_BY_QUEUE]
