"""`foldline serve`: the API and its worker, until stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer
from foldline_api.app import create_app
from foldline_worker.embedded import BrokerOutside, EmbeddedWorker, WorkerDidNotStart
from foldline_worker.hooks.hooks import Hooks
from foldline_worker.processes.beside_service import WorkerProcess
from foldline_worker.summarizers.registry import create_summarizer

from foldline import migrations
from foldline.cli.database import check_schema, open_store, settings_of
from foldline.cli.listening import Host, Port, announce, check_host, has_keys, listener_for, metrics_listener_for
from foldline.cli.options import DatabaseUrl, LogLevel
from foldline.cli.process_setup import check_summarizer_settings, installed_hooks, print_parts, telemetry_of
from foldline.cli.serving.api_server import open_service, run_api
from foldline.cli.serving.worker_part import open_worker
from foldline.log.jobs.breakers import Breakers
from foldline.log.storage.store import Store
from foldline.priority import shorten_slices
from foldline.settings import Settings
from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.metrics import Signals
from foldline.telemetry.ops_server import serving_ops
from foldline.terminal import CommandFailed, ExitCode


def serve(
    *,
    host: Host = None,
    port: Port = None,
    database_url: DatabaseUrl = None,
    summarizer: Annotated[
        str | None, typer.Option(help="Who writes summaries: extractive, openai, or a name of FOLDLINE_SUMMARIZERS.")
    ] = None,
    summarizer_base_url: Annotated[str | None, typer.Option(help="Its endpoint, with /v1.")] = None,
    summarizer_model: Annotated[str | None, typer.Option(help="Its model.")] = None,
    log_level: LogLevel = None,
) -> None:
    """Serve the API and its worker, until stopped with Ctrl-C or SIGTERM.

    Whatever is not given here is read from the environment: FOLDLINE_PORT and so on. Keys are made with `foldline keys
    create`, or set in FOLDLINE_API_KEYS as tenant:key,tenant:key; without keys only this machine can connect.
    """
    settings = settings_of(
        {
            "host": host,
            "port": port,
            "database_url": database_url,
            "summarizer": summarizer,
            "summarizer_base_url": summarizer_base_url,
            "summarizer_model": summarizer_model,
            "log_level": log_level,
        }
    )
    check_summarizer_settings(settings)
    if not settings.has_memory_broker:
        raise CommandFailed(str(BrokerOutside()))
    shorten_slices()
    with (
        telemetry_of(settings, "serve", Source.API, Source.WORKER) as signals,
        _migrated_store(settings, signals) as store,
        listener_for(settings) as listener,
        metrics_listener_for(settings) as metrics_listener,
    ):
        app = create_app(settings, store, signals, open_service=partial(open_service, settings))
        with (
            installed_hooks(settings, store) as hooks,
            _worker(settings, store, hooks, signals) as worker,
            serving_ops(replace(app.state.subject, is_alive=lambda: worker.is_alive), metrics_listener),
        ):
            print_parts(settings, store)
            announce(listener, settings, store)
            run_api(app, listener, settings)


@contextmanager
def _migrated_store(settings: Settings, signals: Signals) -> Iterator[Store]:
    with open_store(settings, signals.tracing) as store:
        migrations.upgrade(store.engine)
        check_schema(store)
        check_host(settings, store)
        yield store


def _worker(
    settings: Settings, store: Store, hooks: Hooks, signals: Signals
) -> AbstractContextManager[EmbeddedWorker | WorkerProcess]:
    """The worker: a process of its own if tenants share the service, unless the settings want none."""
    if settings.large_request_processes and has_keys(settings, store):
        return WorkerProcess(partial(open_worker, settings), store, signals.metrics, settings.stop_seconds)
    return _in_threads(settings, store, hooks, signals)


@contextmanager
def _in_threads(settings: Settings, store: Store, hooks: Hooks, signals: Signals) -> Iterator[EmbeddedWorker]:
    worker = EmbeddedWorker(
        settings, store, create_summarizer(settings, signals.tracing, signals.metrics, Breakers(store)), hooks, signals
    )
    try:
        worker.start()
    except WorkerDidNotStart as error:
        raise CommandFailed("the worker did not start; its log lines say why", ExitCode.SERVICE_FAILED) from error
    try:
        yield worker
    finally:
        worker.stop()
