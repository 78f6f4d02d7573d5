"""The Flower process: Celery's page on workers and tasks, with our settings, and a login for all of it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from flower.app import Flower
from flower.options import options
from flower.urls import settings as flower_settings
from flower.views.error import NotFoundErrorHandler
from prometheus_client import REGISTRY, generate_latest
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback

from foldline.log.jobs.backlog import Backlog
from foldline.settings import Settings
from foldline.telemetry.health import BROKER, Subject, broker_answers
from foldline.telemetry.ops_server import serving_ops
from foldline_worker.app import create_celery
from foldline_worker.broker.liveness import TICK_SECONDS, Ticks

# Flower serves these without a login. Its metrics and a probe are on the operator's port instead.
CLOSED: Final = ("/metrics", "/healthcheck")
EVERY_HOST: Final = ".*"
# About 3 kB each; Flower's default would need more memory than a container has.
TASKS_MAX: Final = 10_000
# Workers that were scaled down never come back: each has a name of its own.
PURGE_SECONDS: Final = 600


class FlowerMetrics:
    """The metrics of Flower and its process, from Prometheus's default registry, which Flower uses."""

    def text(self, _answers_by_part: Mapping[str, bool], _backlog: Backlog | None) -> bytes:
        """See `MetricsSource`."""
        return generate_latest(REGISTRY)


def run_flower(
    settings: Settings,
    listener: socket.socket,
    *,
    login: str,
    on_ready: Callable[[], object],
    metrics_listener: socket.socket | None = None,
) -> None:
    """Serve the page until SIGTERM or SIGINT; `login` is `user:password`.

    The operator's port is served on `metrics_listener`, if there is one.
    """
    ticks = Ticks()
    subject = Subject(FlowerMetrics(), {BROKER: partial(broker_answers, settings)}, is_alive=lambda: ticks.are_on_time)
    options.basic_auth = [login]
    options.max_tasks = TASKS_MAX
    options.purge_offline_workers = PURGE_SECONDS
    with create_celery(settings) as app, serving_ops(subject, metrics_listener):
        # Flower uses the thread's event loop, which newer Pythons do not create by themselves.
        asyncio.set_event_loop(asyncio.new_event_loop())
        page = Flower(capp=app, options=options, **flower_settings)
        page.add_handlers(EVERY_HOST, [(path, NotFoundErrorHandler) for path in CLOSED])
        # Tornado accepts connections until none waits.
        listener.settimeout(0)
        HTTPServer(page).add_socket(listener)
        for number in (signal.SIGTERM, signal.SIGINT):
            page.io_loop.asyncio_loop.add_signal_handler(number, page.stop)
        PeriodicCallback(ticks.tick, TICK_SECONDS * 1000).start()
        PeriodicCallback(page.purge_offline_worker_metrics, PURGE_SECONDS * 1000).start()
        page.io_loop.add_callback(on_ready)
        page.start()
