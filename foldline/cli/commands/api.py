"""`foldline api`: the API alone, beside workers that are processes of their own, until stopped."""

from __future__ import annotations

from foldline_api.app import create_app
from foldline_worker.app import create_celery
from foldline_worker.broker.notifier import Notifier, notifying

from foldline.cli.api_server import run_api
from foldline.cli.database import check_schema, open_store, place_of, settings_of
from foldline.cli.listening import Host, Port, announce, check_host, listener_for, metrics_listener_for
from foldline.cli.options import BrokerUrl, DatabaseUrl, LogLevel
from foldline.cli.process_setup import check_broker, check_database, installed_hooks, print_status, telemetry_of
from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.ops_server import serving_ops


def api(
    *,
    host: Host = None,
    port: Port = None,
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
            "database_url": database_url,
            "broker_url": broker_url,
            "log_level": log_level,
        }
    )
    check_host(settings)
    check_database(settings, "api")
    check_broker(settings, "api")
    with (
        telemetry_of(settings, "api", Source.API) as signals,
        open_store(settings, signals.tracing) as store,
        listener_for(settings) as listener,
        metrics_listener_for(settings) as metrics_listener,
    ):
        check_schema(store)
        app = create_app(settings, store, signals)
        with (
            create_celery(settings) as celery,
            notifying(Notifier(celery), store, settings.stop_seconds),
            installed_hooks(settings, store),
            serving_ops(app.state.subject, metrics_listener),
        ):
            print_status(settings, f"data in {place_of(store)}")
            announce(listener, settings)
            run_api(app, listener, settings)
