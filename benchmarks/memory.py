"""The rows of memory: what a service takes after many sessions, and while it makes the view of a very long one."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psutil

from benchmarks.harness import NotMeasurable, Row, Together
from foldline.replay.embedded import embedded_service

SESSION: Final = {"model": "openai/gpt-4o", "context_window": 128_000}
TEXT: Final = "The build of the parser fails where the grammar has an optional comma. " * 12
FEW, MANY = 10, 1_000
TURNS: Final = 10
ENTRIES: Final = 100_000
AT_ONCE: Final = 500
ROUNDS: Final = 3
SIDE: Final = "foldline serve"
NO_PEAK: Final = "has a peak in /proc only on Linux"


def rows() -> Iterator[Together]:
    """Both rows; each side is a service of its own, of which the resident memory is read at the end."""
    yield Together(
        (
            Row(
                name=f"memory after {MANY:,} sessions",
                ours=f"foldline serve, {MANY:,} sessions of {TURNS} turns with a view each",
                theirs=f"the same after {FEW} sessions",
                time_ours=partial(_after_sessions, MANY),
                time_theirs=partial(_after_sessions, FEW),
                at_most=1.2,
                written=megabytes,
            ),
        ),
        rounds=ROUNDS,
        is_warmed_up=False,
    )
    yield Together(
        (
            Row(
                name=f"memory of a view, {ENTRIES:,} entries",
                ours="the most that the service takes while it makes the view (128k window)",
                theirs="the service before it",
                time_ours=partial(_long_session, is_peak=True),
                time_theirs=partial(_long_session, is_peak=False),
                ours_at_most=60e6,
                written=megabytes,
            ),
        ),
        rounds=1,
        is_warmed_up=False,
    )


def megabytes(size: float) -> str:
    """The size as text."""
    return f"{size / 1e6:.0f} MB"


@dataclass(frozen=True, slots=True)
class _Service:
    """A private service, one connection to it, and its process."""

    connection: http.client.HTTPConnection
    process: psutil.Process

    @property
    def resident(self) -> int:
        """The bytes of its resident memory."""
        return int(self.process.memory_info().rss)

    @property
    def peak(self) -> int:
        """The most bytes that its resident memory had since `forget_peak`.

        Raises:
            NotMeasurable: the system is not Linux.
        """
        found = re.search(r"VmHWM:\s+(\d+) kB", self._proc("status").read_text())
        if found is None:
            raise NotMeasurable(SIDE, NO_PEAK)
        return int(found[1]) * 1024

    def forget_peak(self) -> None:
        """Begin to look for a new peak."""
        self._proc("clear_refs").write_text("5")

    def _proc(self, name: str) -> Path:
        path = Path(f"/proc/{self.process.pid}/{name}")
        if not path.exists():
            raise NotMeasurable(SIDE, NO_PEAK)
        return path

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status >= http.client.BAD_REQUEST:
            raise RuntimeError(answer.decode())
        return json.loads(answer)

    def session(self) -> str:
        """The path of a new session."""
        return f"/sessions/{self.call('POST', '/sessions', SESSION)['id']}"

    def append(self, session: str, turns: int, name: str) -> None:
        said = [
            {"role": role, "content": f"{name}.{turn} {TEXT}"}
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
        self.call("POST", f"{session}/messages", {"messages": said})


@contextmanager
def _service() -> Iterator[_Service]:
    with embedded_service() as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc)
        (process,) = psutil.Process().children()
        yield _Service(connection, process)
        connection.close()


def _after_sessions(sessions: int) -> float:
    """The bytes that a service takes after so many sessions."""
    with _service() as service:
        for number in range(sessions):
            session = service.session()
            for turn in range(TURNS):
                service.append(session, 1, f"{number}.{turn}")
                service.call("GET", f"{session}/context")
        return service.resident


@cache
def _measured() -> tuple[int, int]:
    """The bytes of a service with a long session, and the most that it takes more while it makes a view of it."""
    with _service() as service:
        session = service.session()
        for number in range(ENTRIES // AT_ONCE):
            service.append(session, AT_ONCE // 2, str(number))
        service.forget_peak()
        idle = service.resident
        service.call("GET", f"{session}/context")
        return idle, service.peak - idle


def _long_session(*, is_peak: bool) -> float:
    return _measured()[is_peak]
