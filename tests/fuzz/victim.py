"""Another tenant, whose turns are timed while somebody attacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Final

from tests.fuzz.documented import VICTIM
from tests.support.processes.http import client

TURN: Final = {"messages": [{"role": "user", "content": "How far are we?"}]}


@dataclass
class Victim:
    """Another tenant, whose turns are timed."""

    url: str
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def quiet(self, seconds: float) -> list[float]:
        """The seconds of turns for a while without an attack."""
        with self.during():
            Event().wait(seconds)
        found, self.seconds = self.seconds, []
        return found

    @contextmanager
    def during(self) -> Iterator[None]:
        """A turn every 20 ms."""
        stopped = Event()

        def work() -> None:
            with client(self.url) as caller:
                caller.headers.update(VICTIM)
                session = caller.post("/sessions", json={"model": "openai/gpt-4o"}).json()["id"]
                while not stopped.wait(0.02):
                    began = monotonic()
                    answer = caller.post(f"/sessions/{session}/messages", json=TURN)
                    self.seconds.append(monotonic() - began)
                    self.statuses[answer.status_code] += 1

        thread = Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()


def percentile(seconds: list[float], share: float) -> float:
    """So large a share of the values is at most this."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
