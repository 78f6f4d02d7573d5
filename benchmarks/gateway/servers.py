"""The servers of the rows: a provider, and in front of it `foldline serve` or the bare proxy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.gateway.conversations import body
from benchmarks.processes import running, serving
from stack.processes.waiting import comes_true

READY_SECONDS: Final = 60.0
# More than any conversation of the rows.
ROOMY_WINDOW: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Proxy:
    """A server in front of the provider, and its process."""

    url: str
    process: psutil.Process

    @property
    def port(self) -> int:
        """Its port on the loopback interface."""
        return urlsplit(self.url).port or 0

    @property
    def resident(self) -> float:
        """The bytes of its resident memory."""
        return float(self.process.memory_info().rss)

    def wait_for_jobs(self, session_id: str) -> None:
        """Wait until all jobs of a session have ended.

        Raises:
            TimeoutError: one of them does not end.
        """
        if not comes_true(lambda: all(job["ended_at"] for job in self._jobs(session_id)), READY_SECONDS):
            raise TimeoutError(session_id)

    def _jobs(self, session_id: str) -> list[dict[str, Any]]:
        answer = httpx.get(f"{self.url}/sessions/{session_id}/jobs").raise_for_status()
        jobs: list[dict[str, Any]] = answer.json()["items"]
        return jobs


@contextmanager
def providing(folder: Path) -> Iterator[str]:
    """The address of a provider."""
    with serving(folder, "benchmarks.gateway.provider") as url:
        yield url


@contextmanager
def bare(folder: Path, provider: str) -> Iterator[Proxy]:
    """A bare proxy."""
    with _proxy(folder, "benchmarks.gateway.bare_proxy", provider) as found:
        yield found


@contextmanager
def gateway(folder: Path, provider: str, window: int = ROOMY_WINDOW) -> Iterator[Proxy]:
    """A `foldline serve` on a new SQLite file, whose sessions have this context window."""
    with TemporaryDirectory(dir=folder) as name:
        options = ("serve", "--port", "0", "--database-url", f"sqlite:///{name}/gateway.db")
        settings = {
            "FOLDLINE_ANTHROPIC_BASE_URL": provider,
            "FOLDLINE_GATEWAY_CONTEXT_WINDOW": str(window),
            "PYTHONUNBUFFERED": "1",
        }
        with _proxy(Path(name), "foldline.cli.main", *options, **settings) as found:
            yield found


@contextmanager
def _proxy(folder: Path, module: str, *arguments: str, **environment: str) -> Iterator[Proxy]:
    with running(folder, module, *arguments, until="listening on", **environment) as member:
        (url,) = re.findall(r"listening on (http://\S+)", member.logged())[:1]
        # A first request loads what a server loads when it is needed.
        comes_true(lambda: _answers(url), READY_SECONDS)
        yield Proxy(url, psutil.Process(member.pid))


def _answers(url: str) -> bool:
    try:
        return httpx.post(f"{url}/v1/messages", content=body([{"role": "user", "content": url}])).is_success
    except httpx.HTTPError:
        return False
