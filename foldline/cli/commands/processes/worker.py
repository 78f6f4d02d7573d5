"""`foldline worker`: writes summaries and sweeps, as a process of its own, until stopped."""

from __future__ import annotations

import os
import socket
from typing import Annotated

import typer
from foldline_worker.broker.queues import TASK_BY_QUEUE
from foldline_worker.processes.worker import WorkerFailed, run_worker
from foldline_worker.summarizers.registry import create_summarizer

from foldline.cli.database import check_schema, open_store, settings_of
from foldline.cli.listening import metrics_listener_for
from foldline.cli.options import BrokerUrl, DatabaseUrl, LogLevel
from foldline.cli.process_setup import (
    check_broker,
    check_database,
    check_summarizer_settings,
    installed_hooks,
    print_parts,
    print_status,
    telemetry_of,
)
from foldline.log.jobs.breakers import Breakers
from foldline.priority import lower_priority
from foldline.settings import Settings
from foldline.telemetry.metric_catalog import Source
from foldline.terminal import CommandFailed, ExitCode


def worker(
    *,
    queues: Annotated[
        str | None, typer.Option(help=f"Queues to take from, with commas between; all of {', '.join(TASK_BY_QUEUE)}.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(help="Summaries written at the same time.")] = None,
    name: Annotated[str | None, typer.Option(help="What monitors call this worker; foldline-PID.")] = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    log_level: LogLevel = None,
) -> None:
    """Write summaries, until stopped with Ctrl-C or SIGTERM; what then still runs goes to another worker.

    Needs a PostgreSQL, brought to this version's tables by `foldline migrate`, and a Redis or Valkey. Whatever is not
    given here is read from the environment: FOLDLINE_SUMMARIZER and so on.
    """
    settings = settings_of(
        {
            "worker_concurrency": concurrency,
            "database_url": database_url,
            "broker_url": broker_url,
            "log_level": log_level,
        }
    )
    taken = _queues(queues)
    check_summarizer_settings(settings)
    check_database(settings, "worker")
    check_broker(settings, "worker")
    _run(settings, _node(name or f"foldline-{os.getpid()}"), taken)


def _queues(names: str | None) -> list[str]:
    """The queues named, in the order in which they are looked into."""
    wanted = {name.strip() for name in names.split(",")} if names else set(TASK_BY_QUEUE)
    if unknown := wanted - set(TASK_BY_QUEUE):
        raise CommandFailed(
            f"--queues: there is no queue {', '.join(sorted(unknown))}; there are {', '.join(TASK_BY_QUEUE)}"
        )
    return [queue for queue in TASK_BY_QUEUE if queue in wanted]


def _node(name: str) -> str:
    return name if "@" in name else f"{name}@{socket.gethostname()}"


def _run(settings: Settings, node: str, queues: list[str]) -> None:
    # No caller waits for a worker, but for the API on the same machine.
    lower_priority()

    def say_ready() -> None:
        listing = ", ".join(queues)
        print_status(settings, f"ready: {node} takes {listing}; {settings.worker_concurrency} summaries at a time")

    with (
        telemetry_of(settings, "worker", Source.WORKER) as signals,
        open_store(settings, signals.tracing) as store,
        installed_hooks(settings, store) as hooks,
        metrics_listener_for(settings) as metrics_listener,
    ):
        check_schema(store)
        print_parts(settings, store)
        summarizer = create_summarizer(settings, signals.tracing, signals.metrics, Breakers(store))
        try:
            run_worker(
                settings,
                store,
                summarizer,
                name=node,
                queues=queues,
                on_ready=say_ready,
                hooks=hooks,
                signals=signals,
                metrics_listener=metrics_listener,
            )
        except WorkerFailed as error:
            raise CommandFailed("the worker ended; its log lines say why", ExitCode.SERVICE_FAILED) from error
        print_status(settings, "stopped")
