"""Who gets a processor first: processes for which callers wait, before those for which nobody does."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import ClassVar, Final

# Of processors that others want too, it gets a tenth.
NICENESS: Final = 10
_OF_SESSION: Final = Path("/proc/self/autogroup")
_TRIES: Final = 10
_TRY_SECONDS: Final = 0.12

# The shortest that Linux takes, and one that is longer than its own, of 0.7 to 2.8 ms as there are processors. Much
# longer ones come seldom and all at once, and then others wait: with 100 ms for a tenth of a second.
SLICE_NANOSECONDS: Final = 100_000
LONG_SLICE_NANOSECONDS: Final = 4_000_000
# `SCHED_OTHER` and `SCHED_BATCH`: in others the same field means something else, or nothing.
_POLICIES_WITH_SLICES: Final = frozenset({0, 3})
# Of `sched_setattr` and `sched_getattr`, for which neither Python nor older C libraries have functions.
_SYSCALL_NUMBERS: Final = {"x86_64": (314, 315), "aarch64": (274, 275), "riscv64": (274, 275)}


def lower_priority(niceness: int = NICENESS) -> None:
    """Let other processes have the processors first; where the system refuses, nothing changes.

    This thread, and those that are started from now on, also get long slices of a processor: Linux takes it away from
    them at once for a thread with shorter ones that wakes up, which would wait until the kernel's next tick otherwise,
    whatever the niceness (`sched_setattr`, from 6.12 on). Linux may share processors among sessions, and then
    among the processes of each (`sched_autogroup_enabled`): there the niceness of a process counts within its session
    alone. So one that leads a session sets the session's, too.
    """
    with suppress(OSError):
        os.nice(niceness)
    with suppress(OSError):
        _set_slice(LONG_SLICE_NANOSECONDS)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            _set_of_session(niceness)


def _set_of_session(niceness: int) -> None:
    """Set it. Without privileges, Linux lets one process of all do so in a tenth of a second."""
    for _ in range(_TRIES - 1):
        with suppress(BlockingIOError):
            _OF_SESSION.write_text(str(niceness))
            return
        sleep(_TRY_SECONDS)
    _OF_SESSION.write_text(str(niceness))


def shorten_slices() -> None:
    """Let this thread, and the threads and processes that it starts from now on, have a processor soon once they wake.

    A program that computes keeps a processor for a slice of some milliseconds, whatever its priority, although others
    wake up. Linux takes it away for a thread whose slices are shorter (`sched_setattr`, from 6.12 on); how much of the
    processors a thread gets in all does not change. Where the system does not know that, nothing changes.
    """
    with suppress(OSError):
        _set_slice(SLICE_NANOSECONDS)


class _Attributes(ctypes.Structure):
    """How Linux schedules a thread: `struct sched_attr`, as its first version has it."""

    _fields_: ClassVar = [
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    ]


def _set_slice(nanoseconds: int) -> None:
    numbers = _SYSCALL_NUMBERS.get(platform.machine())
    # A Python of 32 bits has other numbers.
    if sys.platform != "linux" or numbers is None or sys.maxsize < 1 << 32:
        return
    set_number, get_number = numbers
    attributes = _Attributes()
    _call(get_number, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    if attributes.policy in _POLICIES_WITH_SLICES:
        attributes.runtime = nanoseconds
        _call(set_number, ctypes.byref(attributes), 0)


def _call(number: int, *arguments: object) -> None:
    """A system call about this thread."""
    if ctypes.CDLL(None, use_errno=True).syscall(number, 0, *arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
