"""What every long-running command sets up: checks, logging, metrics, traces and hooks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final
from urllib.parse import urlsplit

import typer
from foldline_worker.hooks.hooks import Hooks, InvalidHook, load_hooks, reporting
from foldline_worker.summarizers.registry import check_summarizer, model_of

from foldline.cli.database import place_of
from foldline.log.errors import InvalidDatabase
from foldline.log.storage.engines.addresses import SQLITE, address_of
from foldline.log.storage.store import Store
from foldline.settings import InvalidSettings, Settings, unknown_variables
from foldline.telemetry.logs import set_up_logging
from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.metrics import Metrics, Signals
from foldline.telemetry.tracing import Silent, Tracing
from foldline.terminal import CommandFailed, answers

logger = logging.getLogger(__name__)

BROKERS: Final = frozenset({"redis", "rediss"})
POSTGRESQL: Final = "the address of a PostgreSQL, as in postgresql://foldline:password@127.0.0.1:5432/foldline"


def check_broker(settings: Settings, command: str) -> None:
    """Raise CommandFailed for a broker that other processes cannot reach."""
    if settings.has_memory_broker:
        raise CommandFailed(
            f"`foldline {command}` needs a broker that other processes reach: set FOLDLINE_BROKER_URL to the address "
            "of a Redis or Valkey, as in redis://127.0.0.1:6379/0. On one machine `foldline serve` needs none"
        )
    if not _is_redis(settings.broker_url):
        raise CommandFailed(
            "FOLDLINE_BROKER_URL must be the address of a Redis or Valkey, as in redis://127.0.0.1:6379/0"
        )


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        number = parts.path.strip("/") or "0"
        return parts.scheme in BROKERS and parts.port != 0 and number.isdecimal()
    except ValueError:
        # The port is no number, or a bracket of the password was read as one of the host's.
        return False


def check_database(settings: Settings, command: str) -> None:
    """Raise CommandFailed for a database that only one process can write to, or an address of none."""
    try:
        is_sqlite = address_of(settings.database_url).get_backend_name() == SQLITE
    except InvalidDatabase as error:
        raise CommandFailed(f"FOLDLINE_DATABASE_URL, or --database-url, must be {POSTGRESQL}") from error
    if is_sqlite:
        is_named = "database_url" in settings.model_fields_set
        problem = "SQLite is none" if is_named else "FOLDLINE_DATABASE_URL is not set"
        raise CommandFailed(
            f"`foldline {command}` needs a database that other processes write to as well, and {problem}: set "
            f"FOLDLINE_DATABASE_URL to {POSTGRESQL}. On SQLite, `foldline serve` does everything by itself"
        )


def check_summarizer_settings(settings: Settings) -> None:
    """Raise CommandFailed for settings that no summarizer can be made of."""
    try:
        check_summarizer(settings)
    except InvalidSettings as error:
        raise CommandFailed(str(error)) from error


def print_parts(settings: Settings, store: Store) -> None:
    """Say where the data is and who writes summaries."""
    model = model_of(settings)
    summarizer = f"{settings.summarizer}, model {model}" if model else settings.summarizer
    providers = f", by policy {' or '.join(settings.compactor_keys)}" if settings.compactor_keys else ""
    print_status(settings, f"data in {place_of(store)}, summaries: {summarizer}{providers}")


@contextmanager
def installed_hooks(settings: Settings, store: Store) -> Iterator[Hooks]:
    """The installed hooks, which hear in the block of the store's compactions and jobs.

    Raises:
        CommandFailed: one that is installed cannot be used.
    """
    try:
        hooks = load_hooks(settings.hook_timeout_seconds, fails_closed=settings.hooks_fail == "closed")
    except InvalidHook as error:
        raise CommandFailed(f"{error}. Mend or uninstall the package that it is from") from error
    if not hooks.is_empty:
        print_status(settings, f"hooks: {', '.join(hooks.names)}")
    with reporting(hooks, store, settings.stop_seconds):
        yield hooks


@contextmanager
def telemetry_of(settings: Settings, role: str, *sources: Source) -> Iterator[Signals]:
    """The signals of a process in this role, with the metrics of these sources, and with logging set up.

    At the end of the block, traces that wait are sent. Where log lines are JSON, the error that fails the command in
    the block is one of them.

    Raises:
        CommandFailed: traces are wanted, and the packages for them are not installed.
    """
    tracing = tracing_of(settings, role)
    set_up_logging(settings, tracing)
    for name in unknown_variables():
        logger.warning("%s is no setting, and changes nothing; docs/settings.md lists those there are", name)
    try:
        yield Signals(Metrics(sources), tracing)
    except CommandFailed as failure:
        if settings.log_format != "json":
            raise
        # Whoever reads the lines as JSON would miss the one that says what is wrong.
        logger.critical("%s", failure)
        raise typer.Exit(failure.code) from failure
    finally:
        tracing.close()


def tracing_of(settings: Settings, role: str) -> Tracing:
    """The tracing of a process in this role; the caller closes it.

    Raises:
        CommandFailed: traces are wanted, and the packages for them are not installed.
    """
    if settings.traces_url is None:
        return Silent()
    try:
        # Only here: the packages are an extra, and take a second to load.
        module = import_module("foldline.telemetry.opentelemetry")
    except ImportError as error:
        raise CommandFailed(
            "FOLDLINE_TRACES_URL is set, and the packages that send traces are not installed: install the extra "
            "`tracing`, as in pip install 'foldline[service,tracing]', or leave it unset"
        ) from error
    tracing: Tracing = module.OpenTelemetry(settings.traces_url, role)
    return tracing


def print_status(settings: Settings, text: str) -> None:
    """Print a line about the process, or log it where log lines are JSON."""
    if settings.log_format == "json":
        logger.info("%s", text)
    else:
        answers().print(text, soft_wrap=True, markup=False)
