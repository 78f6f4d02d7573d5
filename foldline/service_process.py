"""How a process begins that a service starts for a part of its work, and how it ends with the service."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from foldline.priority import lower_priority

# New interpreters: a fork would copy locks that other threads hold.
SPAWN: Final = multiprocessing.get_context("spawn")
# Held while one is started: whoever looks which process is new finds no other.
BEGINNING: Final = Lock()
# Python looks for garbage after so many new objects. After its own 700, a third of the time of a large append goes into
# that, while other writers to SQLite wait; what is kept longer is little, as hardly any of it is in cycles.
GARBAGE_OBJECTS: Final = 20_000
# Where Linux has the name of a process, of 15 bytes at most, which `ps` and `top` show.
_NAME: Final = Path("/proc/self/comm")


def collect_rarely() -> None:
    """Have this process look for garbage less often than Python does by itself."""
    gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])


def begin_part(name: str) -> None:
    """Begin a process that a service started for a part of its work.

    It gets a name, leaves the signals of the service's group to the service, and ends with it.
    """
    collect_rarely()
    with suppress(OSError):
        _NAME.write_text(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.setsid()
    # What is left of a processor is enough for it: the small requests come first.
    lower_priority()
    Thread(target=_end_with_service, name="foldline-parent", daemon=True).start()


def _end_with_service() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
