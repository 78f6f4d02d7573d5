"""Signals for a process and all its descendants.

A process group is not enough: PostgreSQL gives each connection's process a group of its own.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import psutil

from stack.processes.waiting import comes_true

# The kernel ends a killed process at once, unless the process waits for a disk.
DEATH_SECONDS: Final = 10.0


def freeze(pid: int) -> list[psutil.Process]:
    """Stop the processes, the root first so that it starts no more. Returns those that were stopped."""
    frozen: list[psutil.Process] = []
    while new := [process for process in _tree(pid) if process not in frozen]:
        _signal(new, signal.SIGSTOP)
        frozen += new
    return frozen


def thaw(pid: int) -> None:
    """Continue the processes, the root last so that it finds the others running."""
    _signal(reversed(_tree(pid)), signal.SIGCONT)


def kill(pid: int) -> None:
    """Kill all of them, frozen or not, and wait until they have ended."""
    killed = freeze(pid)
    _signal(killed, signal.SIGKILL)
    comes_true(lambda: all(map(is_gone, killed)), DEATH_SECONDS)


def is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended. Zombies count as ended, since a container without an init never removes them."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)
