"""`foldline flower`: the page on workers and tasks, until stopped."""

from __future__ import annotations

from typing import Annotated

import typer
from foldline_worker.processes.flower import run_flower

from foldline.cli.database import settings_of
from foldline.cli.listening import flower_listener_for, metrics_listener_for, url_of
from foldline.cli.options import BrokerUrl, LogLevel
from foldline.cli.process_setup import check_broker, print_status, telemetry_of
from foldline.terminal import CommandFailed


def flower(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    broker_url: BrokerUrl = None,
    log_level: LogLevel = None,
) -> None:
    """Serve Flower, the page on workers and tasks, until stopped with Ctrl-C or SIGTERM.

    Needs a Redis or Valkey, and FOLDLINE_FLOWER_LOGIN=user:password in the environment: who has the login can stop
    workers too.
    """
    settings = settings_of({"flower_host": host, "flower_port": port, "broker_url": broker_url, "log_level": log_level})
    check_broker(settings, "flower")
    if settings.flower_login is None:
        raise CommandFailed(
            "`foldline flower` has a page from which workers can be stopped: set FOLDLINE_FLOWER_LOGIN to user:password"
        )
    with (
        telemetry_of(settings, "flower"),
        flower_listener_for(settings) as listener,
        metrics_listener_for(settings) as metrics_listener,
    ):
        run_flower(
            settings,
            listener,
            login=settings.flower_login.get_secret_value(),
            on_ready=lambda: print_status(settings, f"Flower on {url_of(listener)}"),
            metrics_listener=metrics_listener,
        )
        print_status(settings, "stopped")
