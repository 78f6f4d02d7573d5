"""The Celery app, configured on purpose: what each option is for stands beside it. Tasks live in `worker.tasks`."""

from __future__ import annotations

from threading import Event
from typing import Any, Final

from celery import Celery

from sessions.settings import Settings
from sessions.store import Store
from worker.broker import private_transport
from worker.queues import MAINTENANCE, SUMMARIZE, SWEEP, declared_queues
from worker.summarizers import Summarizer
from worker.tasks import Tasks

SOCKET_SECONDS: Final = 5.0


def create_worker(settings: Settings, store: Store, summarizer: Summarizer, stopping: Event | None = None) -> Celery:
    """The app of a process that runs tasks. Once `stopping` is set, its tasks hand their jobs back and take no more."""
    app = create_celery(settings)
    tasks = Tasks(settings, store, summarizer, stopping or Event())
    # Not shared: Celery would add these, bound to this store, to every app made later in the process.
    app.task(name=SUMMARIZE, shared=False)(tasks.summarize)
    app.task(name=SWEEP, shared=False)(tasks.sweep)
    return app


def create_celery(settings: Settings) -> Celery:
    """The app of a process that only sends tasks, by name."""
    # No fixups: one of them looks for Django in the environment. Kombu warns of an address without a host.
    app = Celery("foldline", set_as_current=False, fixups=[])
    broker_url = "memory://localhost" if settings.has_memory_broker else settings.broker_url
    app.conf.update(
        # Set for both directions, as an environment variable of Celery's own overrides the general one.
        broker_read_url=broker_url,
        broker_write_url=broker_url,
        broker_connection_retry_on_startup=True,
        **_DELIVERY,
        **_EXECUTION,
        **_QUIET,
        task_queues=declared_queues(),
        worker_concurrency=settings.worker_concurrency,
    )
    if settings.has_memory_broker:
        app.conf.update(broker_transport=private_transport(), **_EMBEDDED)
    return app


_DELIVERY: dict[str, Any] = {
    # What is not declared does not exist: a misspelt queue is an error, not a queue nobody reads.
    "task_create_missing_queues": False,
    "task_default_queue": MAINTENANCE,
    # Only JSON is sent, and only JSON is read: a message must not be able to run code.
    "task_serializer": "json",
    "result_serializer": "json",
    "event_serializer": "json",
    "accept_content": ["json"],
    # The database holds every outcome; a second copy at the broker would only go stale.
    "result_backend": None,
    "task_ignore_result": True,
    # A broker that accepts and never answers may hold up the relay, but not for good.
    "broker_transport_options": {"socket_timeout": SOCKET_SECONDS, "socket_connect_timeout": SOCKET_SECONDS},
    # A message is dropped only when its task has ended, so that a killed worker's message is delivered again.
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
}

_EXECUTION: dict[str, Any] = {
    # Summaries wait for the network: threads share one process, its connections and its memory.
    "worker_pool": "threads",
    # One message ahead for each thread and none in reserve, so that an idle worker elsewhere gets it instead.
    "worker_prefetch_multiplier": 1,
    # No task has a rate limit; without this the consumer keeps a bucket for each.
    "worker_disable_rate_limits": True,
    # What Flower shows.
    "worker_send_task_events": True,
    "task_send_sent_event": True,
    "enable_utc": True,
    "timezone": "UTC",
}

_QUIET: dict[str, Any] = {
    # The process has set up its logging; Celery's lines go through it like anyone's.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
}

_EMBEDDED: dict[str, Any] = {
    # Nothing outside this process can reach the memory broker: no remote control, no one listening to events.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "task_send_sent_event": False,
}
