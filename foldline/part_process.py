"""What a process begins with that a service starts for a part of its work."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Final

from foldline.priority import lower_priority

# Where Linux has the name of a process, of 15 bytes at most, which `ps` and `top` show.
_NAME: Final = Path("/proc/self/comm")


def begin_part(name: str) -> None:
    """Begin one: it gets a name, leaves the signals of the service's group to the service, and ends with it."""
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
