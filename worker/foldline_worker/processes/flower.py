"""Flower: the page on workers and tasks, on our app and settings, with nothing of it open to who has no login."""

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

# Flower answers these without a login. Its figures are on the operator's port instead, and so is a probe.
CLOSED: Final = ("/metrics", "/healthcheck")
EVERY_HOST: Final = ".*"
# Some 3 kB each; Flower's own number would outgrow a container.
TASKS_MAX: Final = 10_000
# Scaled workers leave for good, each with a name of its own.
PURGE_SECONDS: Final = 600


class FlowerMetrics:
    """What Flower counts of workers and tasks, and the figures of its process; it keeps them for the whole process."""

    def text(self, _answers_by_part: Mapping[str, bool], _backlog: Backlog | None) -> bytes:
        """All figures, in Prometheus's text format."""
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

    Operators are answered at `metrics_listener`, if there is one.
    """
    ticks = Ticks()
    subject = Subject(FlowerMetrics(), {BROKER: partial(broker_answers, settings)}, is_alive=lambda: ticks.are_on_time)
    options.basic_auth = [login]
    options.max_tasks = TASKS_MAX
    options.purge_offline_workers = PURGE_SECONDS
    with create_celery(settings) as app, serving_ops(subject, metrics_listener):
        # Flower takes the loop of its thread, which newer Pythons do not make by themselves.
        asyncio.set_event_loop(asyncio.new_event_loop())
        page = Flower(capp=app, options=options, **flower_settings)
        page.add_handlers(EVERY_HOST, [(path, NotFoundErrorHandler) for path in CLOSED])
        # Tornado accepts until nobody else waits.
        listener.settimeout(0)
        HTTPServer(page).add_socket(listener)
        for number in (signal.SIGTERM, signal.SIGINT):
            page.io_loop.asyncio_loop.add_signal_handler(number, page.stop)
        PeriodicCallback(ticks.tick, TICK_SECONDS * 1000).start()
        PeriodicCallback(page.purge_offline_worker_metrics, PURGE_SECONDS * 1000).start()
        page.io_loop.add_callback(on_ready)
        page.start()
