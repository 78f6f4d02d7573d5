"""A worker's process that ends soon after its start is replaced at longer and longer intervals, and reported."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.processes.beside_service import WorkerProcess

from foldline import migrations
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.store import Store
from foldline.log.storage.turns import OuterTurn
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.worker_metrics import WorkerMetrics
from tests.support.eventually import eventually

SECONDS = 60
ENDED = re.compile(r"ended by itself; another one begins in (\S+) s")


def no_worker(
    _file: KnownFile | None, _turn: OuterTurn, _metrics: WorkerMetrics
) -> AbstractContextManager[EmbeddedWorker]:
    """What ends the process at once."""
    sys.exit(1)


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
