"""The Celery app and its configuration, each option with its reason. The tasks are in `tasks`."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from threading import Event
from typing import Any, Final

from celery import Celery
from celery.signals import setup_logging

from foldline.log.jobs.leases import extend_leases
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.metrics import Signals
from foldline_worker.broker.notifier import Notifier
from foldline_worker.broker.queues import MAINTENANCE, SUMMARIZE, SWEEP, TASK_BY_QUEUE, declared_queues
from foldline_worker.broker.transport import SOCKET_SECONDS, PatientAMQP, private_transport, verified
from foldline_worker.hooks.hooks import Hooks
from foldline_worker.leases import Leases
from foldline_worker.summarizers.contract import Summarizer
from foldline_worker.tasks import Tasks

HEALTH_CHECK_SECONDS: Final = 5


def create_worker(
    settings: Settings,
    store: Store,
    summarizer: Summarizer,
    stopping: Event,
    queues: Collection[str] = TASK_BY_QUEUE.keys(),
    *,
    hooks: Hooks | None = None,
    signals: Signals | None = None,
) -> tuple[Celery, Notifier, Leases]:
    """The Celery app of a process that runs tasks, its notifier, and the leases of its jobs.

    The caller starts and stops the notifier and the leases. Once `stopping` is set, the tasks put their jobs back into
    the queue and claim no more.
    """
    signals = signals or Signals()
    app = create_celery(settings)
    notifier = Notifier(app, is_alone=settings.has_memory_broker)
    leases = Leases(
        partial(extend_leases, store), settings.lease_seconds, settings.summarizer_timeout_seconds, stopping
    )
    tasks = Tasks(
        settings,
        store,
        summarizer,
        leases=leases,
        queues=queues,
        pass_on=notifier.pass_on,
        stopping=stopping,
        hooks=hooks,
        tracing=signals.tracing,
    )
    # Not shared: Celery would add these tasks, bound to this store, to every app made later in the process.
    app.task(name=SUMMARIZE, shared=False)(tasks.summarize)
    app.task(name=SWEEP, shared=False)(tasks.sweep)
    return app, notifier, leases


def create_celery(settings: Settings) -> Celery:
    """The Celery app of a process that only sends tasks, by name."""
    # Celery sets up logging of its own, unless this signal has a receiver.
    setup_logging.connect(_is_set_up)
    # No fixups: one of them looks for Django in the environment.
    app = Celery("foldline", set_as_current=False, fixups=[], amqp=PatientAMQP)
    # Kombu warns of an address without a host.
    broker_url = "memory://localhost" if settings.has_memory_broker else verified(settings.broker_url)
    app.conf.update(
        # Set for both directions, as an environment variable of Celery's own overrides the general one.
        broker_read_url=broker_url,
        broker_write_url=broker_url,
        **_DELIVERY,
        **_CONNECTION,
        **_EXECUTION,
        **_QUIET,
        task_queues=declared_queues(),
        worker_concurrency=settings.worker_concurrency,
        worker_send_task_events=settings.task_events,
    )
    if settings.has_memory_broker:
        app.conf.update(broker_transport=private_transport(), **_EMBEDDED)
    else:
        app.conf.update(broker_transport_options=_REDIS)
    return app


def _is_set_up(**_: Any) -> None:
    """Does nothing: logging is set up already."""


_DELIVERY: dict[str, Any] = {
    # A misspelt queue is an error, not a new queue that no worker reads.
    "task_create_missing_queues": False,
    "task_default_queue": MAINTENANCE,
    # Only JSON is sent and read: a message must not be able to run code.
    "task_serializer": "json",
    "result_serializer": "json",
    "event_serializer": "json",
    "accept_content": ["json"],
    # The database has every result; a copy at the broker would go stale.
    "result_backend": None,
    "task_ignore_result": True,
    # A message is acknowledged once a thread has it. It is only a notification: a killed worker's job has a lease in
    # the database, and the sweeper sends a lost notification again. If it were kept until the job ends, the broker
    # would deliver it again whenever a job takes longer than the visibility time-out.
    "task_acks_late": False,
    # The sender decides about retries: the notifier retries until the broker is back, beat sends the next sweep.
    "task_publish_retry": False,
}

_CONNECTION: dict[str, Any] = {
    # A worker without a broker waits for it, at the start and later, without a limit.
    "broker_connection_retry_on_startup": True,
    "broker_connection_retry": True,
    "broker_connection_max_retries": None,
    # No effect, because no message is acknowledged late; but without it Celery warns at each lost connection.
    "worker_cancel_long_running_tasks_on_connection_loss": True,
    # Running tasks hold no messages, so the prefetch count need not shrink after a lost connection.
    "worker_enable_prefetch_count_reduction": False,
}

_REDIS: dict[str, Any] = {
    "socket_timeout": SOCKET_SECONDS,
    "socket_connect_timeout": SOCKET_SECONDS,
    "retry_on_timeout": False,
    # The operating system notices a peer that vanished.
    "socket_keepalive": True,
    # The connection that waits for messages has no time-out; it is replaced if a health check fails.
    "health_check_interval": HEALTH_CHECK_SECONDS,
    # The broker keeps no copy of delivered messages, for the reason at task_acks_late. That saves two round trips for
    # each message, and there is no visibility time-out.
    "ack_emulation": False,
    # The database orders the jobs; without priorities, the worker watches three keys instead of twelve.
    "priority_steps": [0],
    # Queues in the order of their declaration: interactive jobs first.
    "queue_order_strategy": "priority",
    # The name in the broker's list of clients.
    "client_name": "foldline",
}

_EXECUTION: dict[str, Any] = {
    # Summaries wait for the network: threads share one process, its connections and its memory.
    "worker_pool": "threads",
    # Messages that may wait in the process for a thread, for each slot. A thread without a free slot sends the message
    # again at once, so that an idle worker gets it.
    "worker_prefetch_multiplier": 1,
    # No task has a rate limit; otherwise the consumer keeps a bucket for each.
    "worker_disable_rate_limits": True,
    # No monitor needs the senders of notifications.
    "task_send_sent_event": False,
    "enable_utc": True,
    "timezone": "UTC",
}

_QUIET: dict[str, Any] = {
    # The process has set up its logging, and Celery's lines go through it.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
}

_EMBEDDED: dict[str, Any] = {
    # No other process can reach the memory broker.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
}
