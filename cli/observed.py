"""What a process is observed by, as the settings have it, for the commands that run until they are stopped."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import typer

from cli.failures import CommandFailed
from sessions.settings import Settings, unknown_variables
from telemetry.logs import set_up_logging
from telemetry.metrics import Metrics
from telemetry.signals import Signals
from telemetry.table import Source
from telemetry.tracing import Silent, Tracing

logger = logging.getLogger(__name__)


@contextmanager
def observed(settings: Settings, role: str, *sources: Source) -> Iterator[Signals]:
    """The signals of a process in this role, which tells the metrics of these sources.

    They are for a block with its logging set up; at the end, what is left is sent.

    Where log lines are JSON, what fails the command in the block is one of them, and ends it.

    Raises:
        CommandFailed: traces are wanted, and the packages for them are not installed.
    """
    tracing = _tracing(settings, role)
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


def _tracing(settings: Settings, role: str) -> Tracing:
    if settings.traces_url is None:
        return Silent()
    try:
        # Only here: the packages are an extra, and take a second to load.
        module = import_module("telemetry.opentelemetry")
    except ImportError as error:
        raise CommandFailed(
            "FOLDLINE_TRACES_URL is set, and the packages that send traces are not installed: install the extra "
            "`tracing`, as in pip install '.[tracing]', or leave it unset"
        ) from error
    tracing: Tracing = module.OpenTelemetry(settings.traces_url, role)
    return tracing
