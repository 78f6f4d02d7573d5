"""`foldline beat`: has the workers sweep, at intervals, until stopped."""

from __future__ import annotations

from foldline_worker.processes.beat import run_beat

from foldline.cli.database import settings_of
from foldline.cli.listening import metrics_listener_for
from foldline.cli.options import BrokerUrl, LogLevel
from foldline.cli.process_setup import check_broker, telemetry_of
from foldline.telemetry.metric_catalog import Source


def beat(*, broker_url: BrokerUrl = None, log_level: LogLevel = None) -> None:
    """Have the workers look for lapsed leases and forgotten jobs, until stopped with Ctrl-C or SIGTERM.

    Run one of it. Needs a Redis or Valkey, and nothing else. Whatever is not given here is read from the environment:
    FOLDLINE_SWEEP_SECONDS and so on.
    """
    settings = settings_of({"broker_url": broker_url, "log_level": log_level})
    check_broker(settings, "beat")
    with telemetry_of(settings, "beat", Source.BEAT) as signals, metrics_listener_for(settings) as metrics_listener:
        run_beat(settings, signals, metrics_listener)
