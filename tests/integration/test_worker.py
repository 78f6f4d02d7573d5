"""The embedded worker with the real store on SQLite: from a notification to a published summary."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from textwrap import dedent
from threading import Barrier, Event
from time import monotonic, perf_counter, process_time
from typing import Any

import pytest
from foldline_worker.broker.queues import MAINTENANCE
from foldline_worker.cancellation import Cancellation
from foldline_worker.embedded import BrokerOutside, EmbeddedWorker
from foldline_worker.summarizers.contract import Summarizer, SummarizerUnavailable
from foldline_worker.summarizers.extractive import Extractive

from foldline import migrations
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.events import JobWaits
from foldline.log.jobs import endings
from foldline.log.storage.store import Limits, Store
from foldline.settings import Settings, load_settings
from foldline.telemetry.logs import formatter
from foldline.telemetry.tracing import Silent
from tests.support.eventually import eventually
from tests.support.log.work import SAID, TENANT, Work

NEVER_SECONDS = 3600.0


class Service(Work):
    """A store and, once started, its worker."""

    def __init__(self, folder: Path, summarizer: Summarizer, **overrides: Any) -> None:
        self.settings: Settings = load_settings(**{"sweep_seconds": NEVER_SECONDS, **overrides})
        limits = Limits(lease_seconds=self.settings.lease_seconds)
        super().__init__(Store(f"sqlite:///{folder / 'foldline.db'}", limits=limits))
        self.summarizer = summarizer
        migrations.upgrade(self.store.engine)

    def worker(self) -> EmbeddedWorker:
        return EmbeddedWorker(self.settings, self.store, self.summarizer)


@contextmanager
def unheard(store: Store) -> Iterator[None]:
    """A block in which no subscriber hears of the store's events, as if the broker lost each message."""
    subscribers, store.subscribers = store.subscribers, ()
    try:
        yield
    finally:
        store.subscribers = subscribers


class Held:
    """A summarizer that says when it is called, and answers when it is let go or cancelled."""

    def __init__(self, *, obeys: bool = True) -> None:
        self.calls: SimpleQueue[float] = SimpleQueue()
        self.go = Event()
        self.closed = 0
        self._obeys = obeys

    def summarize(self, request: SummaryInput, cancellation: Cancellation, *_: object) -> SummaryDraft:
        self.calls.put(perf_counter())
        while not self.go.wait(0.005):
            if self._obeys:
                cancellation.check()
        return Extractive().summarize(request, Cancellation())

    def close(self) -> None:
        self.closed += 1

    def started(self) -> float:
        """When the next call began; waits for it."""
        return self.calls.get(timeout=10)


class Raising:
    """A summarizer that cannot."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def summarize(self, *_: object) -> SummaryDraft:
        raise self._error

    def close(self) -> None:
        pass


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Makes services with running workers, which end with the test."""
    with ExitStack() as stack:

        def build(summarizer: Summarizer, *, name: str = "one", is_running: bool = True, **overrides: Any) -> Service:
            (tmp_path / name).mkdir()
            service = Service(tmp_path / name, summarizer, **overrides)
            stack.callback(service.store.close)
            if is_running:
                stack.enter_context(service.worker())
            return service

        yield build


def test_an_append_over_the_trigger_is_summarized_by_itself(serve: Callable[..., Service]) -> None:
    service = serve(Extractive())
    job_id = service.queue_automatic(service.add_session("s"))
    service.ends(job_id, "succeeded")
    assert service.job(job_id).attempts == 1


def test_a_requested_summary_is_published(serve: Callable[..., Service]) -> None:
    service = serve(Extractive())
    service.ends(service.request_summary(service.add_session("s")), "succeeded")


def test_a_message_reaches_the_summarizer_within_50_ms(serve: Callable[..., Service]) -> None:
    held = Held()
    held.go.set()
    service = serve(held)
    delays = []
    for number in range(15):
        session = service.add_session(f"s{number}")
        asked = perf_counter()
        service.request_summary(session)
        delays.append(held.started() - asked)
    assert median(delays) < 0.05, [round(delay * 1000) for delay in delays]


def test_an_idle_worker_takes_under_2_percent_of_a_core(serve: Callable[..., Service]) -> None:
    serve(Extractive())
    assert min(share_of_a_core() for _ in range(5)) < 0.02, "a worker that polls takes its share in every second"


def share_of_a_core() -> float:
    """The share of a core that this process takes for a second; threads of earlier tests may still be ending in it."""
    before, started = process_time(), monotonic()
    Event().wait(1.0)
    return (process_time() - before) / (monotonic() - started)


def test_jobs_left_by_an_earlier_process_are_done_on_start(serve: Callable[..., Service]) -> None:
    service = serve(Extractive(), is_running=False)
    job_id = service.request_summary(service.add_session("s"))
    with service.worker():
        service.ends(job_id, "succeeded")


def test_a_lost_message_costs_one_sweep(serve: Callable[..., Service]) -> None:
    service = serve(Extractive(), sweep_seconds=0.1)
    session = service.add_session("s")
    with unheard(service.store):
        job_id = service.request_summary(session)
    service.ends(job_id, "succeeded")


def test_the_maintenance_queue_sweeps(serve: Callable[..., Service]) -> None:
    service = serve(Extractive())
    session = service.add_session("s")
    with unheard(service.store):
        job_id = service.request_summary(session)
    service.store.publish(JobWaits(MAINTENANCE))
    service.ends(job_id, "succeeded")


def test_one_message_sets_every_thread_to_work(serve: Callable[..., Service]) -> None:
    together = Barrier(4)

    class Together:
        def summarize(self, request: SummaryInput, cancellation: Cancellation, *_: object) -> SummaryDraft:
            together.wait(10)
            return Extractive().summarize(request, cancellation)

        def close(self) -> None:
            pass

    service = serve(Together(), worker_concurrency=4)
    with unheard(service.store):
        asked = [service.request_summary(service.add_session(f"s{number}")) for number in range(8)]
    service.store.publish(JobWaits(INTERACTIVE))
    for job_id in asked:
        service.ends(job_id, "succeeded")


def test_a_thread_is_reserved_for_requested_jobs(serve: Callable[..., Service]) -> None:
    held = Held()
    service = serve(held, worker_concurrency=2, is_running=False)
    automatic = [service.queue_automatic(service.add_session(name)) for name in ("a", "b")]
    asked = service.request_summary(service.add_session("c"))
    with service.worker():
        held.started(), held.started()
        eventually(lambda: service.job(asked).state == "running")
        assert sorted(service.job(job_id).state for job_id in automatic) == ["queued", "running"]
        held.go.set()
        for job_id in (*automatic, asked):
            service.ends(job_id, "succeeded")


def test_a_job_that_waited_for_another_of_its_session_follows_at_once(serve: Callable[..., Service]) -> None:
    held = Held()
    service = serve(held)
    session = service.add_session("s")
    first = service.request_summary(session)
    held.started()
    second = service.request_summary(session, "only the decisions")
    assert second != first
    held.go.set()
    eventually(lambda: service.job(second).state in ("succeeded", "superseded"))


def test_an_unavailable_summarizer_fails_the_job_with_its_reason(serve: Callable[..., Service]) -> None:
    service = serve(Raising(SummarizerUnavailable("HTTP 503")))
    job_id = service.request_summary(service.add_session("s"))
    service.ends(job_id, "failed")
    assert "HTTP 503" in service.job(job_id).error


def test_an_unexpected_error_fails_the_job_without_showing_any_text(
    serve: Callable[..., Service], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(Raising(KeyError(SAID)))
    monkeypatch.setattr(caplog.handler, "formatter", formatter("text", Silent()))
    with caplog.at_level(logging.DEBUG):
        job_id = service.request_summary(service.add_session("s"))
        service.ends(job_id, "failed")
        eventually(lambda: job_id in caplog.text)
    assert service.job(job_id).error.startswith("KeyError at ")
    assert SAID not in service.job(job_id).error
    assert SAID not in caplog.text


def test_cancelling_a_job_stops_its_summarizer(serve: Callable[..., Service]) -> None:
    held = Held()
    service = serve(held, lease_seconds=1, worker_concurrency=1)
    job_id = service.request_summary(service.add_session("s"))
    held.started()
    with service.store.write() as tx:
        endings.cancel(tx, TENANT, job_id)
    # The only thread is free again, so the call has ended.
    service.request_summary(service.add_session("next"))
    held.started()
    held.go.set()
    assert service.job(job_id).state == "cancelled"


def test_a_call_longer_than_its_lease_keeps_it(serve: Callable[..., Service]) -> None:
    held = Held()
    service = serve(held, lease_seconds=1, sweep_seconds=0.05)
    job_id = service.request_summary(service.add_session("s"))
    begun = held.started()
    eventually(lambda: perf_counter() - begun > 1.5)
    held.go.set()
    service.ends(job_id, "succeeded")
    assert service.job(job_id).attempts == 1
    assert held.calls.empty()


def test_stopping_hands_a_running_job_back_and_another_worker_does_it(serve: Callable[..., Service]) -> None:
    held = Held()
    service = serve(held, is_running=False)
    job_id = service.request_summary(service.add_session("s"))
    worker = service.worker()
    worker.start()
    held.started()
    begun = monotonic()
    assert worker.stop()
    assert monotonic() - begun < 2
    assert service.job(job_id).state == "queued"
    held.go.set()
    with service.worker():
        service.ends(job_id, "succeeded")


def test_stopping_does_not_wait_for_a_summarizer_that_never_ends(
    serve: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    held = Held(obeys=False)
    service = serve(held, is_running=False)
    service.request_summary(service.add_session("s"))
    worker = service.worker()
    worker.start()
    held.started()
    begun = monotonic()
    assert not worker.stop(timeout_seconds=0.3)
    assert monotonic() - begun < 1
    assert "did not stop in time" in caplog.text
    held.go.set()
    eventually(lambda: not foldline_threads())


def test_stopping_closes_the_summarizer_once(serve: Callable[..., Service]) -> None:
    held = Held()
    with serve(held, is_running=False).worker() as worker:
        assert held.closed == 0
        worker.stop()
    assert held.closed == 1


def test_a_broker_outside_the_process_is_refused_at_once(serve: Callable[..., Service]) -> None:
    service = serve(Extractive(), is_running=False, broker_url="redis://127.0.0.1:1/0")
    begun = monotonic()
    with pytest.raises(BrokerOutside, match="FOLDLINE_BROKER_URL"):
        service.worker().start()
    assert monotonic() - begun < 1
    assert foldline_threads() == []


def test_log_lines_of_a_job_name_it_in_their_text(
    serve: Callable[..., Service], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(caplog.handler, "formatter", formatter("text", Silent()))
    service = serve(Extractive())
    job_id = service.request_summary(service.add_session("s"))
    eventually(lambda: f"job_id={job_id} " in caplog.text)
    assert re.search(rf"job succeeded .*job_id={job_id} .*session_id=s$", caplog.text, re.MULTILINE)


def test_two_services_in_one_process_keep_their_jobs_apart(serve: Callable[..., Service]) -> None:
    services = [serve(Extractive(), name=name) for name in "ab"]
    for number in range(5):
        for service in services:
            # One message at a time: had the other's worker taken it, nobody would do the job.
            service.ends(service.request_summary(service.add_session(f"s{number}")), "succeeded")
    assert [len(service.jobs()) for service in services] == [5, 5]


def test_a_worker_can_be_started_again_and_again_without_a_trace(serve: Callable[..., Service]) -> None:
    service = serve(Extractive(), is_running=False)
    handlers = list(logging.getLogger().handlers)
    for number in range(3):
        with service.worker() as worker:
            service.ends(service.request_summary(service.add_session(f"s{number}")), "succeeded")
            was_alive = worker.is_alive
        assert (was_alive, worker.is_alive) == (True, False)
        assert worker.stop()
        assert foldline_threads() == []
    assert service.store.subscribers == ()
    assert logging.getLogger().handlers == handlers


def test_celerys_own_variables_are_ignored(serve: Callable[..., Service], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "nowhere")
    service = serve(Extractive())
    service.ends(service.request_summary(service.add_session("s")), "succeeded")


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_process_that_forgets_to_stop_its_worker_still_exits_cleanly(tmp_path: Path, is_busy: bool) -> None:  # noqa: FBT001
    script = """
        import sys
        from pathlib import Path
        from tests.integration.test_worker import Held, Service

        held = Held()
        service = Service(Path(sys.argv[1]), held)
        service.worker().start()
        if sys.argv[2] == "True":
            service.request_summary(service.add_session("s"))
            held.started()
    """
    # What is forgotten is not closed either, of which newer Pythons speak.
    warned = ["-W", "error", "-W", "ignore:unclosed database:ResourceWarning"]
    command = [sys.executable, *warned, "-c", dedent(script), str(tmp_path), str(is_busy)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def foldline_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("foldline-")]
