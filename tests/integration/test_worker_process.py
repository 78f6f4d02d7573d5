"""`foldline worker` and `foldline beat` as processes on a real PostgreSQL and a Valkey that is frozen or killed."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from foldline_worker.broker.queues import MAINTENANCE, SUMMARIZE, SWEEP
from foldline_worker.tasks import DATABASE_THREADS
from redis import Redis

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.storage import paths
from foldline.log.use_cases import lifecycle
from stack.services.servers import BackingService
from tests.support.eventually import eventually
from tests.support.log.work import TENANT
from tests.support.processes.databases import is_lock_waited_for
from tests.support.processes.installation import BACK_SECONDS, Installation
from tests.support.processes.scripted_llm import ScriptedLLM, slow

# Longer than what a socket waits.
FROZEN_SECONDS = 6.0
# More than a worker's threads that may be at the database at a time.
HELD = DATABASE_THREADS + 1


def test_a_job_is_done_by_a_worker_elsewhere(installation: Installation) -> None:
    worker = installation.worker("--name", "one")

    assert "one@" in worker.printed
    assert "summarize.interactive, summarize.background, maintenance" in worker.printed
    installation.is_done()


def restart(broker: BackingService) -> None:
    broker.restart()


def cut(broker: BackingService) -> None:
    with Redis.from_url(broker.url) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def kill(broker: BackingService) -> None:
    broker.kill()
    wait(3.0)
    broker.start()


def freeze(broker: BackingService) -> None:
    broker.freeze()
    wait(FROZEN_SECONDS)
    broker.thaw()


def empty(broker: BackingService) -> None:
    with Redis.from_url(broker.url) as client:
        client.flushall()


def wait(seconds: float) -> None:
    """Lets time pass in which nothing can be looked at."""
    begun = monotonic()
    eventually(lambda: monotonic() - begun > seconds, seconds + 1)


@pytest.mark.parametrize(
    "hurt", [restart, cut, *(pytest.param(hurt, marks=pytest.mark.thorough) for hurt in (kill, freeze)), empty]
)
def test_messages_are_taken_again_soon_after_the_broker_is_back(
    installation: Installation, hurt: Callable[[BackingService], None]
) -> None:
    worker = installation.worker()
    installation.is_done()
    for _ in range(2):
        hurt(installation.broker)
        installation.is_done()
    assert worker.is_alive


def test_a_notification_while_the_broker_is_away_is_sent_when_it_is_back(installation: Installation) -> None:
    installation.worker()
    installation.is_done()
    installation.broker.kill()
    waiting = installation.queue()
    installation.broker.start()
    installation.ends(waiting, "succeeded", BACK_SECONDS)


def test_a_worker_waits_for_a_broker_that_is_not_there_yet(installation: Installation) -> None:
    installation.broker.kill()
    installation.start("worker", until="does not answer")
    installation.broker.start()
    installation.is_done()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_stopped_hands_its_jobs_to_another(
    installation: Installation, llm: ScriptedLLM, number: signal.Signals
) -> None:
    # Long before its leases end.
    installation.variables |= {"FOLDLINE_LEASE_SECONDS": "50"}
    llm.script(slow(60), slow(60))
    worker = installation.worker("--concurrency", "2")
    asked = [installation.queue() for _ in range(2)]
    eventually(lambda: len(llm.requests) == 2)
    installation.worker("--concurrency", "2")

    worker.process.send_signal(number)

    for job in asked:
        installation.ends(job, "succeeded", 15.0)
        assert installation.job(job).attempts == 1
    assert worker.process.wait(5) == 0, worker.printed
    assert llm.disconnects == 2


def test_a_broker_that_does_not_answer_does_not_keep_a_worker_from_stopping(installation: Installation) -> None:
    worker = installation.worker(FOLDLINE_STOP_SECONDS="2")
    installation.broker.freeze()
    assert worker.stop() < 4


def test_a_worker_that_waits_for_its_broker_can_be_stopped(installation: Installation) -> None:
    installation.broker.kill()
    assert installation.start("worker", until="does not answer").stop() < 3


def test_a_second_signal_ends_a_worker_at_once(installation: Installation) -> None:
    worker = installation.worker()
    installation.broker.freeze()
    worker.process.terminate()
    begun = monotonic()
    while worker.process.poll() is None:
        worker.process.terminate()
    assert monotonic() - begun < 2
    assert worker.process.returncode == -signal.SIGTERM


def test_a_killed_workers_job_is_done_by_another_when_its_lease_ends(
    installation: Installation, llm: ScriptedLLM
) -> None:
    llm.script(slow(60))
    installation.variables |= {"FOLDLINE_LEASE_SECONDS": "1"}
    worker = installation.worker()
    job = installation.queue()
    eventually(lambda: len(llm.requests) == 1)
    worker.process.kill()
    installation.worker()
    installation.start("beat", until="beat: Starting", FOLDLINE_SWEEP_SECONDS="0.2")
    installation.ends(job, "succeeded")


def test_a_notification_that_a_busy_worker_cannot_use_reaches_an_idle_one(
    installation: Installation, llm: ScriptedLLM
) -> None:
    llm.script(slow(60))
    installation.worker("--concurrency", "1")
    installation.queue()
    eventually(lambda: len(llm.requests) == 1)
    waiting = installation.queue()
    installation.worker("--concurrency", "1")
    installation.ends(waiting, "succeeded", 3.0)


def test_summaries_for_sessions_that_are_being_written_to_keep_no_other_waiting(
    installation: Installation, llm: ScriptedLLM
) -> None:
    llm.script(*[slow(3.0)] * HELD)
    installation.worker("--concurrency", str(HELD + 1))
    held = [installation.queue() for _ in range(HELD)]
    eventually(lambda: len(llm.requests) == HELD)
    with installation.store.write() as tx:
        for number in range(1, HELD + 1):
            paths.open_head(tx, TENANT, f"s{number}", lock=True)
        eventually(lambda: is_lock_waited_for(installation.store), 10.0)
        installation.is_done()
        assert {installation.job(job).state for job in held} == {"running"}
    for job in held:
        installation.ends(job, "succeeded")


def test_a_sweep_is_done_while_every_slot_is_taken(installation: Installation, llm: ScriptedLLM) -> None:
    llm.script(slow(60))
    installation.worker("--concurrency", "1")
    installation.queue()
    eventually(lambda: len(llm.requests) == 1)
    deleted = installation.add_session("deleted")
    with installation.store.write() as tx:
        lifecycle.delete(tx, TENANT, deleted)
    installation.send(SWEEP, MAINTENANCE)
    eventually(lambda: deleted not in installation.kept_sessions())


def test_messages_that_make_no_sense_do_no_harm(installation: Installation) -> None:
    worker = installation.worker()
    installation.send("foldline.unheard_of", MAINTENANCE)
    installation.send(SUMMARIZE, BACKGROUND, kwargs={"queue": "unheard of"})
    installation.send(SUMMARIZE, BACKGROUND, args=["one", "two"])
    installation.send(SUMMARIZE, INTERACTIVE, kwargs={"queue": INTERACTIVE, "newer": True})
    installation.is_done()
    assert worker.is_alive


def test_a_worker_takes_only_from_the_queues_it_was_given(installation: Installation) -> None:
    worker = installation.worker("--queues", f"{MAINTENANCE},{BACKGROUND}")
    assert "takes summarize.background, maintenance;" in worker.printed
    asked = installation.queue()
    installation.ends(installation.queue_automatic(installation.add_session("other")), "succeeded")
    assert installation.job(asked).state == "queued"


def test_monitors_see_a_worker_and_may_stop_it(installation: Installation) -> None:
    worker = installation.worker("--name", "seen")
    (name,) = installation.celery.control.inspect(timeout=5.0, limit=1).ping() or {}
    assert name.startswith("seen@")
    installation.celery.control.shutdown(destination=[name])
    assert worker.process.wait(10) == 0, worker.printed


def test_beat_sweeps_at_once_and_again(installation: Installation) -> None:
    beat = installation.start("beat", until="beat: Starting", FOLDLINE_SWEEP_SECONDS="0.5")
    eventually(lambda: installation.client().llen(MAINTENANCE) >= 3)
    assert beat.stop() < 2
    assert list(Path().glob("celerybeat*")) == []


@pytest.mark.parametrize("hurt", [restart, kill, pytest.param(freeze, marks=pytest.mark.thorough)])
def test_beat_sweeps_again_after_the_broker_is_back(
    installation: Installation, hurt: Callable[[BackingService], None]
) -> None:
    beat = installation.start("beat", until="beat: Starting", FOLDLINE_SWEEP_SECONDS="0.5")
    client = installation.client()
    eventually(lambda: client.llen(MAINTENANCE))
    hurt(installation.broker)
    client.delete(MAINTENANCE)
    eventually(lambda: client.llen(MAINTENANCE), BACK_SECONDS)
    assert beat.is_alive


def test_beat_ends_while_the_broker_does_not_answer(installation: Installation) -> None:
    beat = installation.start("beat", until="beat: Starting", FOLDLINE_SWEEP_SECONDS="0.2")
    eventually(lambda: installation.client().llen(MAINTENANCE))
    installation.broker.freeze()
    wait(1.0)
    assert beat.stop() < 2


def test_a_broker_that_is_away_is_one_line_and_another_when_it_is_back(installation: Installation) -> None:
    installation.variables["FOLDLINE_SWEEP_SECONDS"] = "0.5"
    running = [installation.worker(), installation.start("beat", until="beat: Starting")]
    installation.is_done()

    kill(installation.broker)

    for process in running:
        eventually(lambda process=process: "/0 is back" in process.printed)  # type: ignore[misc]
        process.stop()
        assert process.printed.count("does not answer") == process.printed.count("/0 is back") == 1
        assert len(re.findall(r"\bstopped\b", process.printed)) == 1
        for noise in ("Traceback", "ERROR", "[error", "Trying", "No consumers"):
            assert noise not in process.printed, process.printed
