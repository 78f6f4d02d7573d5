"""A process is alive while its loop runs, or while it waits for the broker."""

from __future__ import annotations

from threading import Thread

from foldline_worker.app import create_celery
from foldline_worker.broker.liveness import LATE_SECONDS, Outage, Ticks
from foldline_worker.processes.beat import PatientScheduler
from foldline_worker.processes.worker import Consuming
from kombu.asynchronous.timer import Timer

from foldline.settings import load_settings
from stack.services.servers import valkey
from tests.support.eventually import eventually

NOWHERE = "redis://127.0.0.1:1/0"


class Counted(Ticks):
    """Ticks that can be counted."""

    count = 0

    def tick(self) -> None:
        self.count += 1
        super().tick()


def test_a_loop_that_has_not_ticked_for_long_is_late() -> None:
    assert Ticks().are_on_time
    assert not Ticks(-LATE_SECONDS).are_on_time


def test_beat_ticks_while_it_waits_for_the_broker() -> None:
    with valkey(is_own=True) as broker:
        broker.stop()
        ticks, outage = Counted(), Outage(broker.url)
        with create_celery(load_settings(broker_url=broker.url)) as app:
            scheduler = PatientScheduler(ticks, outage, app=app, lazy=True)
            waiting = Thread(target=lambda: scheduler.producer, daemon=True)
            waiting.start()
            eventually(lambda: ticks.count > 2)
            assert outage.is_on
            broker.start()
            waiting.join(10)
            assert not waiting.is_alive()


def test_a_worker_whose_loop_stands_still_is_not_alive_unless_it_waits_for_the_broker() -> None:
    outage = Outage(NOWHERE)
    consuming = Consuming(outage, Ticks(-LATE_SECONDS))
    assert not consuming.is_alive
    outage.begin(OSError())
    assert consuming.is_alive


def test_a_worker_that_takes_messages_ticks_by_its_own_timer() -> None:
    ticks, timer = Counted(), Timer()
    consuming = Consuming(Outage(NOWHERE), ticks)
    assert not consuming.is_on.is_set()
    consuming.begin(timer)
    assert consuming.is_on.is_set()
    assert ticks.count == 1
    [scheduled] = timer.queue
    scheduled.entry()
    assert ticks.count == 2
    consuming.end()
    assert not consuming.is_on.is_set()


def test_an_outage_is_on_until_it_ends() -> None:
    outage = Outage(NOWHERE)
    states = [outage.is_on]
    outage.begin(OSError())
    states.append(outage.is_on)
    outage.end()
    states.append(outage.is_on)
    assert states == [False, True, False]
