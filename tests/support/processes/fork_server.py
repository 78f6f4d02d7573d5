"""A fork server: a process that has imported Foldline's modules, and forks for each command that a test starts.

Imports take most of the time of a short command. What is forked has an environment, a folder, output, signals and an
exit code of its own, and is finalized as an interpreter of its own is; only its modules are there already.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Lock
from typing import IO, Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[3]
# One byte, with a socket and two files.
_START: Final = b"!"


class Forked:
    """A command that was started, with the part of `subprocess.Popen` that tests use. It is killed when its test is."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        # Without a buffer: what it had read ahead, `select` would wait for.
        self._reader = line.makefile("rb", buffering=0)
        self.pid = int(self._reader.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, or minus the signal that ended it.

        Raises:
            subprocess.TimeoutExpired: it runs on.
        """
        found = self._look(timeout)
        if found is None:
            raise subprocess.TimeoutExpired("foldline", timeout or 0.0)
        return found

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], timeout)[0]:
            self.returncode = int(self._reader.readline())
            self._reader.close()
            self._line.close()
        return self.returncode


def start(
    arguments: Sequence[str],
    output: IO[bytes] | None,
    errors: IO[bytes] | None,
    environment: Mapping[str, str],
    *,
    warnings_end_it: bool = False,
) -> Forked:
    """`foldline` with these arguments, running in the folder of the tests."""
    ours, theirs = socket.socketpair()
    request = {"arguments": arguments, "environment": dict(environment), "warnings_end_it": warnings_end_it}
    with theirs, Path(os.devnull).open("wb") as nothing:
        _server().fork(theirs, [(file or nothing).fileno() for file in (output, errors)])
    ours.sendall(json.dumps(request).encode() + b"\n")
    return Forked(ours)


class _Server:
    """The process that forks, as its starter sees it. It ends when its starter does."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._control, theirs = socket.socketpair()
        # Without buffering, `print` writes a line in parts, and a line of the log may come between them.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=REPOSITORY,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def fork(self, line: socket.socket, files: Sequence[int]) -> None:
        with self._lock:
            socket.send_fds(self._control, [_START], [line.fileno(), *files])

    def stop(self) -> None:
        self._control.close()
        self._process.wait()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.stop)
    return server


def _import_all() -> None:
    """Import what any command does, so that none has to; their garbage collectors leave it alone.

    A warning ends the server, and so fails every test that starts a command.
    """
    with warnings.catch_warnings(action="error"):
        commands = import_module("foldline.cli.commands")
        for module in walk_packages(commands.__path__, "foldline.cli.commands."):
            import_module(module.name)
    gc.collect()
    gc.freeze()


def _serve(control: socket.socket) -> None:
    """Fork for each request; returns in the processes that have a command to run."""
    # Nobody waits for those that watch over commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, 3)
        if not message:
            sys.exit()
        if os.fork() == 0:
            control.close()
            _run(socket.socket(fileno=files[0]), *files[1:])
            return
        for file in files:
            os.close(file)


def _run(line: socket.socket, output: int, errors: int) -> None:
    """Fork once more and return as the command; the other process watches over it, and reports how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request = json.loads(line.makefile("r").readline())
    if pid := os.fork():
        os.close(output)
        os.close(errors)
        _watch(pid, line)
        os._exit(0)
    line.close()
    for file, number in ((output, 1), (errors, 2)):
        os.dup2(file, number)
        os.close(file)
    _become(request)


def _watch(pid: int, line: socket.socket) -> None:
    assert sys.platform == "linux"
    line.sendall(b"%d\n" % pid)
    process = os.pidfd_open(pid)
    ended, _, _ = select.select([process, line.fileno()], [], [])
    if process not in ended:
        # Whoever started it is gone.
        os.kill(pid, signal.SIGKILL)
        return
    found = os.waitid(os.P_PIDFD, process, os.WEXITED | os.WNOWAIT)
    assert found
    line.sendall(b"%d\n" % (found.si_status if found.si_code == os.CLD_EXITED else -found.si_status))
    # Until its starter knows, no other process may get its id.
    line.recv(1)


def _become(request: Mapping[str, Any]) -> None:
    """Be as if started anew."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    # Behind the first entry, as an interpreter places them when it starts.
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv[1:] = request["arguments"]
    if request["warnings_end_it"]:
        warnings.simplefilter("error")


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    import_module("foldline.cli.main").main()
