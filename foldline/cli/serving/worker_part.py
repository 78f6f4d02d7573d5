"""The worker of `foldline serve`, in the process that it starts for that where callers need keys."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from foldline_worker.embedded import EmbeddedWorker, WorkerDidNotStart
from foldline_worker.hooks.hooks import load_hooks, reporting
from foldline_worker.summarizers.registry import create_summarizer

from foldline.cli.database import open_store
from foldline.cli.models_file import use_models_file
from foldline.cli.process_setup import tracing_of
from foldline.log.jobs.breakers import Breakers
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.turns import OuterTurn
from foldline.settings import Settings
from foldline.telemetry.logs import set_up_logging
from foldline.telemetry.metrics import Signals
from foldline.telemetry.worker_metrics import WorkerMetrics
from foldline.terminal import CommandFailed, ExitCode

logger = logging.getLogger(__name__)


@contextmanager
def open_worker(
    settings: Settings, file: KnownFile | None, outer_turn: OuterTurn, metrics: WorkerMetrics
) -> Iterator[EmbeddedWorker]:
    """The started worker, on the database that the service has open; the service checked the settings and hooks.

    Raises:
        SystemExit: the database does not open, or fails in the block, or the worker does not start.
    """
    with closing(tracing_of(settings, "serve")) as tracing:
        set_up_logging(settings, tracing)
        use_models_file(settings.models_file)
        hooks = load_hooks(settings.hook_timeout_seconds, fails_closed=settings.hooks_fail == "closed")
        try:
            with (
                open_store(settings, tracing, file, outer_turn) as store,
                reporting(hooks, store, settings.stop_seconds),
            ):
                store.subscribe(metrics.count)
                summarizer = create_summarizer(settings, tracing, metrics, Breakers(store))
                with EmbeddedWorker(settings, store, summarizer, hooks, Signals(tracing=tracing)) as worker:
                    yield worker
        except CommandFailed as failure:
            logger.critical("%s", failure)
            sys.exit(failure.code)
        except WorkerDidNotStart:
            sys.exit(ExitCode.SERVICE_FAILED)
