"""A worker's process that ends soon after its start is replaced at longer and longer intervals, and reported."""

from __future__ import annotations

import logging
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
ENDED = "ended by itself; another one begins"


def no_worker(
    _file: KnownFile | None, _turn: OuterTurn, _metrics: WorkerMetrics
) -> AbstractContextManager[EmbeddedWorker]:
    """What ends the process at once."""
    sys.exit(1)


@pytest.mark.timeout(120)
def test_the_service_says_that_it_has_no_worker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(f"sqlite:///{tmp_path}/foldline.db")
    migrations.upgrade(store.engine)
    with caplog.at_level(logging.ERROR), WorkerProcess(no_worker, store, Metrics(), stop_seconds=1.0) as worker:
        eventually(lambda: caplog.text.count(ENDED) == 2, SECONDS)
        first, second = (record.created for record in caplog.records if ENDED in record.message)
        # The second one waited for twice as long as the first before it was replaced.
        assert second - first > 2.0
        assert not worker.is_alive
    store.close()
