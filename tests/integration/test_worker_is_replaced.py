"""A worker's process that ends soon after its start, or that is frozen, is replaced and reported."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path

import psutil
import pytest
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.processes import beside_service
from foldline_worker.processes.beside_service import PROCESS_NAME, WorkerProcess

from foldline import migrations
from foldline.cli.serving.worker_part import open_worker
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.store import Store
from foldline.log.storage.turns import OuterTurn
from foldline.settings import load_settings
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.worker_metrics import Call, WorkerMetrics
from tests.support.eventually import eventually

SECONDS = 60
ENDED = re.compile(r"has ended; another one begins in (\S+) s")


def no_worker(
    _file: KnownFile | None, _turn: OuterTurn, _metrics: WorkerMetrics
) -> AbstractContextManager[EmbeddedWorker]:
    """What ends the process at once."""
    sys.exit(1)


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.name() == PROCESS_NAME]


def pauses(caplog: pytest.LogCaptureFixture) -> list[str]:
    return ENDED.findall(caplog.text)


@pytest.mark.timeout(120)
def test_the_service_says_that_it_has_no_worker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(f"sqlite:///{tmp_path}/foldline.db")
    migrations.upgrade(store.engine)
    with caplog.at_level(logging.ERROR), WorkerProcess(no_worker, store, Metrics(), stop_seconds=1.0) as worker:
        eventually(lambda: len(pauses(caplog)) == 3, SECONDS)
        assert pauses(caplog) == ["1", "2", "4"]
        assert not worker.is_alive
    store.close()


@pytest.mark.timeout(120)
def test_one_that_is_frozen_is_killed_and_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Call | None] = []
    monkeypatch.setattr(beside_service, "count_relayed", lambda call, _metrics: heard.append(call))
    # Longer than a process takes to begin.
    monkeypatch.setattr(beside_service, "SILENT_SECONDS", 15.0)
    settings = load_settings(database_url=f"sqlite:///{tmp_path}/foldline.db")
    with closing(Store(settings.database_url)) as store:
        migrations.upgrade(store.engine)
        with WorkerProcess(partial(open_worker, settings), store, Metrics(), stop_seconds=1.0) as worker:
            # One that does nothing but run is heard of.
            eventually(lambda: heard.count(None) >= 3, SECONDS)
            (frozen,) = workers()
            frozen.suspend()
            eventually(lambda: [other.pid for other in workers()] not in ([], [frozen.pid]), SECONDS)
            assert f"the worker's process {frozen.pid} is silent, and is killed" in caplog.text
            assert worker.is_alive
