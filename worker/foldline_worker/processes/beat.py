"""The beat process: sends sweeps to the workers on a schedule, by Celery beat."""

from __future__ import annotations

import logging
import os
import signal
from datetime import UTC, datetime
from functools import partial
from socket import socket
from typing import Any, Final

from celery.apps.beat import Beat
from celery.beat import Scheduler
from celery.platforms import EX_OK
from celery.signals import after_task_publish

from foldline.settings import Settings
from foldline.telemetry.health import BROKER, Subject, broker_answers
from foldline.telemetry.metrics import Signals
from foldline.telemetry.ops_server import serving_ops
from foldline_worker.app import create_celery
from foldline_worker.broker.liveness import Outage, Ticks, logged_once
from foldline_worker.broker.queues import MAINTENANCE, SWEEP

logger = logging.getLogger(__name__)

# Sweeps expire, so that they do not pile up without a worker. They are sent by beat's clock and expire by the worker's:
# if the clocks differed by more than this, every sweep would have expired on arrival.
EXPIRY_SECONDS_MIN: Final = 3600.0
EXPIRY_SWEEPS_MIN: Final = 10
_LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


def run_beat(settings: Settings, signals: Signals, metrics_listener: socket | None = None) -> None:
    """Send a sweep at once and then every `settings.sweep_seconds`, until SIGTERM or SIGINT ends the process.

    The operator's port is served on `metrics_listener`, if there is one.
    """
    # Before the operator's port says that the process is ready.
    _end_on_signals()
    outage = Outage(settings.broker_url)
    after_task_publish.connect(lambda **_: outage.end(), weak=False)
    ticks = Ticks(settings.sweep_seconds)
    parts = {BROKER: partial(broker_answers, settings)}
    subject = Subject(signals.metrics, parts, needed=parts.keys(), is_alive=lambda: ticks.are_on_time)
    with create_celery(settings) as app, logged_once(outage), serving_ops(subject, metrics_listener):
        app.conf.beat_schedule = {"sweep": _sweep(settings)}
        # The schedule is in memory: after a restart, beat sweeps at once. Celery's types ask for a name, but a factory
        # works as well.
        scheduler: Any = partial(PatientScheduler, ticks, outage)
        beat = _Beat(app=app, scheduler=scheduler, quiet=True, socket_timeout=0)
        logger.info("beat: Starting, %s to %s every %g s", SWEEP, MAINTENANCE, settings.sweep_seconds)
        beat.run()


class PatientScheduler(Scheduler):
    """Celery's in-memory scheduler, which also ticks while it waits for the broker."""

    def __init__(self, ticks: Ticks, outage: Outage, *args: Any, **options: Any) -> None:
        self._ticks = ticks
        self._outage = outage
        super().__init__(*args, **options)

    def tick(self, *args: Any, **options: Any) -> Any:
        self._ticks.tick()
        return super().tick(*args, **options)

    def _ensure_connected(self) -> Any:
        """As Celery's, which is called within a tick and retries until the broker is there; ticks at each retry."""
        return self.connection.ensure_connection(self._try_again)

    def _try_again(self, error: Exception, _pause_seconds: float) -> None:
        self._ticks.tick()
        self._outage.begin(error)


class _Beat(Beat):
    """Celery's beat. It ends at once on a signal, also while the broker does not answer: it has no state to save."""

    def install_sync_handler(self, _service: Any) -> None:
        _end_on_signals()


def _end_on_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)


def _end(*_: Any) -> None:
    logger.info("beat: stopped")
    os._exit(EX_OK)


def _sweep(settings: Settings) -> dict[str, Any]:
    expiry_seconds = max(EXPIRY_SECONDS_MIN, EXPIRY_SWEEPS_MIN * settings.sweep_seconds)
    return {
        "task": SWEEP,
        "schedule": settings.sweep_seconds,
        "last_run_at": _LONG_AGO,
        "options": {"queue": MAINTENANCE, "expires": expiry_seconds},
    }
