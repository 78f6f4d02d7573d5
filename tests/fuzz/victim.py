"""Another tenant, whose turns are timed while somebody attacks."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from time import monotonic, sleep
from typing import Final

from tests.fuzz.documented import VICTIM
from tests.support.processes.http import client

_SPAWNING: Final = multiprocessing.get_context("spawn")
TURN: Final = {"messages": [{"role": "user", "content": "How far are we?"}]}


@dataclass
class Victim:
    """Another tenant, whose turns are timed by a process of its own: what the attacker computes does not hold it up."""

    url: str
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    # How many turns were answered until now, and how many seconds of CPU each takes.
    turns: Synchronized[int] = field(default_factory=lambda: _SPAWNING.Value("l"))
    cpu_seconds_of_turn: float = 0.0

    def quiet(self, seconds: float, cpu_seconds: Callable[[], float]) -> list[float]:
        """The seconds of turns for a while without an attack; `cpu_seconds` are those of the service until now."""
        with self.during():
            before = cpu_seconds()
            sleep(seconds)
            self.cpu_seconds_of_turn = (cpu_seconds() - before) / self.turns.value
        return self.seconds

    def cpu_seconds(self) -> float:
        """The seconds of CPU that its turns have taken until now."""
        return self.turns.value * self.cpu_seconds_of_turn

    @contextmanager
    def during(self) -> Iterator[None]:
        """A turn every 20 ms, whose `seconds` are known afterwards."""
        stopped = _SPAWNING.Event()
        ours, its = _SPAWNING.Pipe()
        process = _SPAWNING.Process(target=_take_turns, args=(self.url, stopped, its, self.turns))
        process.start()
        its.close()
        ours.recv()
        try:
            yield
        finally:
            stopped.set()
            self.seconds, self.statuses = ours.recv()
            process.join()


def _take_turns(url: str, stopped: Event, found: Connection, turns: Synchronized[int]) -> None:
    # Linux may share processors among sessions first.
    os.setsid()
    seconds: list[float] = []
    statuses: Counter[int] = Counter()
    with client(url) as caller:
        caller.headers.update(VICTIM)
        session = caller.post("/sessions", json={"model": "openai/gpt-4o"}).json()["id"]
        found.send("begun")
        while not stopped.wait(0.02):
            began = monotonic()
            answer = caller.post(f"/sessions/{session}/messages", json=TURN)
            seconds.append(monotonic() - began)
            statuses[answer.status_code] += 1
            turns.value += answer.is_success
    found.send((seconds, statuses))


def percentile(seconds: list[float], share: float) -> float:
    """So large a share of the values is at most this."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
