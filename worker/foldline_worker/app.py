"""The Celery app, configured on purpose: what each option is for stands beside it. Tasks live in `tasks`."""

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
from foldline_worker.broker.transport import PatientAMQP, private_transport, verified
from foldline_worker.hooks.hooks import Hooks
from foldline_worker.leases import Leases
from foldline_worker.summarizers.contract import Summarizer
from foldline_worker.summarizers.registry import Metered, model_of
from foldline_worker.tasks import Tasks

SOCKET_SECONDS: Final = 5.0
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
    """The app of a process that runs tasks, the notifier, and the leases of the jobs they do.

    Whoever starts notifier and leases stops them. Once `stopping` is set, the tasks hand their jobs back and take no
    more.
    """
    signals = signals or Signals()
    app = create_celery(settings)
    notifier = Notifier(app)
    leases = Leases(
        partial(extend_leases, store), settings.lease_seconds, settings.summarizer_timeout_seconds, stopping
    )
    tasks = Tasks(
        settings,
        store,
        Metered(summarizer, signals.metrics, provider=settings.summarizer, model=model_of(settings)),
        leases=leases,
        queues=queues,
        pass_on=notifier.pass_on,
        stopping=stopping,
        hooks=hooks,
        tracing=signals.tracing,
    )
    # Not shared: Celery would add these, bound to this store, to every app made later in the process.
    app.task(name=SUMMARIZE, shared=False)(tasks.summarize)
    app.task(name=SWEEP, shared=False)(tasks.sweep)
    return app, notifier, leases


def create_celery(settings: Settings) -> Celery:
    """The app of a process that only sends tasks, by name."""
    # Celery sets up logging of its own, unless someone says that it is done.
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
    """Nothing is left to do."""


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
    # A message is done with once a thread has it. It is a notification: what a killed worker had claimed is under a
    # lease in the database, and a ring that got lost is rung again by the sweeper. Kept until the job ends, it would be
    # delivered a second time whenever a job outlasts the broker's patience, and help nobody sooner.
    "task_acks_late": False,
    # Who sends decides how often to try: the notifier until the broker is back, beat at its next turn.
    "task_publish_retry": False,
}

_CONNECTION: dict[str, Any] = {
    # A worker without a broker waits for it, from the first moment on and for as long as it takes.
    "broker_connection_retry_on_startup": True,
    "broker_connection_retry": True,
    "broker_connection_max_retries": None,
    # It would end tasks whose messages can no longer be acknowledged late. There are none, and Celery warns of the
    # setting's absence each time a connection is lost.
    "worker_cancel_long_running_tasks_on_connection_loss": True,
    # Running tasks hold no messages, so there is nothing to take fewer of after a connection was lost.
    "worker_enable_prefetch_count_reduction": False,
}

_REDIS: dict[str, Any] = {
    # A broker that accepts and never answers may hold up whoever sends, but not for good.
    "socket_timeout": SOCKET_SECONDS,
    "socket_connect_timeout": SOCKET_SECONDS,
    "retry_on_timeout": False,
    # A peer that vanished without a word is noticed by the system too.
    "socket_keepalive": True,
    # The connection that waits for messages has no time-out; one whose answer is overdue by this is made anew.
    "health_check_interval": HEALTH_CHECK_SECONDS,
    # No copy of what was delivered is kept at the broker, for the reason given at task_acks_late. That also saves two
    # round trips a message, and leaves no visibility time-out to outlast.
    "ack_emulation": False,
    # Jobs have an order of their own; without priorities, three keys are watched instead of twelve.
    "priority_steps": [0],
    # The queues in the order they are declared in: what someone waits for comes first.
    "queue_order_strategy": "priority",
    # Who it is, in the broker's list of clients.
    "client_name": "foldline",
}

_EXECUTION: dict[str, Any] = {
    # Summaries wait for the network: threads share one process, its connections and its memory.
    "worker_pool": "threads",
    # Messages that may wait in the process for a thread, for each slot. A thread passes on at once what it has no slot
    # for, so that an idle worker elsewhere gets it.
    "worker_prefetch_multiplier": 1,
    # No task has a rate limit; without this the consumer keeps a bucket for each.
    "worker_disable_rate_limits": True,
    # Who rang is of no interest.
    "task_send_sent_event": False,
    "enable_utc": True,
    "timezone": "UTC",
}

_QUIET: dict[str, Any] = {
    # The process has set up its logging; Celery's lines go through it like anyone's.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
}

_EMBEDDED: dict[str, Any] = {
    # Nothing outside this process can reach the memory broker, or listen.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
}
