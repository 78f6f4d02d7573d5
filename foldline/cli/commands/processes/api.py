"""`foldline api`: the API alone, beside workers that are processes of their own, until stopped."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Final

import typer

from foldline.cli.database import check_schema, open_store, place_of, settings_of
from foldline.cli.listening import Host, Port, announce, check_host, listener_for, metrics_listener_for
from foldline.cli.options import BrokerUrl, DatabaseUrl, LogLevel
from foldline.cli.process_setup import check_broker, check_database, print_status, telemetry_of
from foldline.cli.serving.api_processes import ApiProcesses
from foldline.cli.serving.api_server import api_beside_workers, run_api
from foldline.log.storage.store import Store
from foldline.priority import shorten_slices
from foldline.settings import Settings
from foldline.telemetry.health import DATABASE, Subject, known_backlog, parts_of
from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.metrics import Signals
from foldline.telemetry.ops_server import serving_ops
from foldline.telemetry.several_processes import MetricsOfProcesses

# The part of readiness that says whether one of several processes takes requests.
PROCESSES: Final = "processes"


def api(
    *,
    host: Host = None,
    port: Port = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes that share the port; each uses about a core.")
    ] = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    log_level: LogLevel = None,
) -> None:
    """Serve the API, until stopped with Ctrl-C or SIGTERM; `foldline worker` writes the summaries.

    Needs a PostgreSQL, brought to this version's tables by `foldline migrate`, and a Redis or Valkey. Whatever is not
    given here is read from the environment: FOLDLINE_PORT and so on.
    """
    settings = settings_of(
        {
            "host": host,
            "port": port,
            "api_processes": processes,
            "database_url": database_url,
            "broker_url": broker_url,
            "log_level": log_level,
        }
    )
    check_database(settings, "api")
    check_broker(settings, "api")
    shorten_slices()
    with (
        telemetry_of(settings, "api", Source.API) as signals,
        _checked_store(settings, signals) as store,
        listener_for(settings) as listener,
        metrics_listener_for(settings) as metrics_listener,
    ):
        print_status(settings, f"data in {place_of(store)}")
        if settings.api_processes > 1:
            _serve_by_several(settings, store, listener, metrics_listener)
            return
        with (
            api_beside_workers(settings, store, signals) as app,
            serving_ops(app.state.subject, metrics_listener),
        ):
            announce(listener, settings, store)
            run_api(app, listener, settings)


@contextmanager
def _checked_store(settings: Settings, signals: Signals) -> Iterator[Store]:
    with open_store(settings, signals.tracing) as store:
        check_schema(store)
        check_host(settings, store)
        yield store


def _serve_by_several(
    settings: Settings, store: Store, listener: socket.socket, metrics_listener: socket.socket | None
) -> None:
    """Serve with processes of their own; this one watches them, and has the operator's port."""
    processes = ApiProcesses(settings, listener)
    subject = Subject(
        MetricsOfProcesses(processes.metrics),
        {**parts_of(settings, store), PROCESSES: lambda: processes.serve},
        needed={DATABASE, PROCESSES},
        backlog=partial(known_backlog, store),
    )
    with serving_ops(subject, metrics_listener):
        try:
            processes.start()
            announce(listener, settings, store)
            processes.run()
        finally:
            processes.stop()
