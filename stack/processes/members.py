"""One process of a running stack, which is restarted when it dies."""

from __future__ import annotations

from threading import RLock
from time import monotonic
from typing import Final

from stack.processes.guarded import DidNotStart, Guarded
from stack.processes.signs import Sign
from stack.processes.waiting import comes_true

START_SECONDS: Final = 60.0
# The pause between restarts. Without it, a process that dies at once would keep a core busy.
RESTART_SECONDS: Final = 1.0


class Member:
    """A process with its name in the stack. Repeated calls of `look` keep it running until it is stopped."""

    def __init__(
        self, name: str, process: Guarded, ready: Sign, *, url: str = "", metrics_url: str = "", is_once: bool = False
    ) -> None:
        self.name = name
        self.url = url
        self.metrics_url = metrics_url
        self.restarts = 0
        self._process = process
        self._ready = ready
        self._is_once = is_once
        self._is_wanted = self._was_ready = False
        self._started = self._next_restart = 0.0
        # The thread that watches the stack is another one.
        self._lock = RLock()

    @property
    def pid(self) -> int:
        """Its process id, or 0 while it does not run."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.exit_code

    @property
    def uptime_seconds(self) -> float:
        """Seconds since its last start; 0 while it does not run."""
        return monotonic() - self._started if self._process.is_running else 0.0

    @property
    def state(self) -> str:
        """Its state: waiting (for its first start), starting, ready (once since it started), ended, done or stopped."""
        if self._process.is_running:
            return "ready" if self._was_ready else "starting"
        if self._is_once and self.exit_code == 0:
            return "done"
        if self._is_wanted:
            return "ended"
        return "waiting" if self.exit_code is None else "stopped"

    @property
    def is_ready(self) -> bool:
        return self.state in {"ready", "done"}

    def logged(self) -> str:
        """The text it logged since its last start."""
        return self._process.logged()

    def last_line(self) -> str:
        """The last line of its log."""
        return self._process.last_lines(1)

    def start(self) -> None:
        """Start it, without waiting until it is ready."""
        with self._lock:
            self._was_ready = False
            self._process.start()
            self._started = monotonic()
            self._is_wanted = True

    def wait_until_ready(self) -> None:
        """Wait until it is ready after its first start.

        Raises:
            DidNotStart: it ended or did not become ready; the message ends with its log.
        """
        comes_true(lambda: self._look_ready() or not self._process.is_running, START_SECONDS)
        if not self._look_ready():
            state = "did not get ready" if self._process.is_running else f"ended with exit code {self.exit_code}"
            raise DidNotStart(f"{self.name} {state}; it logged:\n{self._process.last_lines()}")

    def look(self) -> None:
        """Start it again if it has died: at once, and then at most once a second."""
        with self._lock:
            self._look_ready()
            if self.state == "ended" and monotonic() >= self._next_restart:
                self._next_restart = monotonic() + RESTART_SECONDS
                self.restarts += 1
                self.start()

    def stop(self) -> None:
        """End it in good order; it is not restarted."""
        with self._lock:
            self._is_wanted = False
            self._process.stop()

    def terminate(self) -> None:
        """Ask it to end in good order, without waiting; it is restarted."""
        with self._lock:
            self._process.terminate()

    def kill(self) -> None:
        """Kill it; it is restarted."""
        with self._lock:
            self._process.kill()

    def freeze(self) -> None:
        """Freeze it; a frozen process counts as running."""
        with self._lock:
            self._process.freeze()

    def thaw(self) -> None:
        """Let it continue after `freeze`."""
        with self._lock:
            self._process.thaw()

    def _look_ready(self) -> bool:
        if self.state == "starting":
            self._was_ready = self._ready.shows(self)
        return self.is_ready
