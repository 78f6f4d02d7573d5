"""The schedule of a deployment with workers of its own: one sweep at a time, sent by Celery beat."""

from __future__ import annotations

import logging
import os
import signal
from datetime import UTC, datetime
from typing import Any, Final

from celery.apps.beat import Beat
from celery.platforms import EX_OK
from celery.signals import after_task_publish

from sessions.settings import Settings
from worker.app import create_celery
from worker.outage import Outage, told_once
from worker.queues import MAINTENANCE, SWEEP

logger = logging.getLogger(__name__)

# Without a worker, sweeps that nobody needs any more would wait for it. But they are sent by beat's clock and expire by
# the worker's: if these differed by more than this, every sweep would be too old on arrival, and none would be done.
EXPIRY_SECONDS_MIN: Final = 3600.0
EXPIRY_SWEEPS_MIN: Final = 10

_LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


def run_beat(settings: Settings) -> None:
    """Sends a sweep at once and then every `settings.sweep_seconds`, until SIGTERM or SIGINT ends the process."""
    outage = Outage(settings.broker_url)
    after_task_publish.connect(lambda **_: outage.end(), weak=False)
    with create_celery(settings) as app, told_once(outage):
        app.conf.beat_schedule = {"sweep": _sweep(settings)}
        # In memory: what a restart forgets is when it last swept, and it sweeps at once. There is no file to write.
        beat = _Beat(app=app, scheduler="celery.beat:Scheduler", quiet=True, socket_timeout=0)
        logger.info("beat: Starting, %s to %s every %g s", SWEEP, MAINTENANCE, settings.sweep_seconds)
        beat.run()


class _Beat(Beat):
    """Celery's beat. It has nothing to keep, so it ends where it is, also before a broker that does not answer."""

    def install_sync_handler(self, _service: Any) -> None:
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
