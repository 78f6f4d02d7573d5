"""The priority of a process for which nobody waits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Final

# Of processors that others want too, it gets a tenth.
NICENESS: Final = 10
_OF_SESSION: Final = Path("/proc/self/autogroup")
_TRIES: Final = 10
_TRY_SECONDS: Final = 0.12


def lower_priority(niceness: int = NICENESS) -> None:
    """Let other processes have the processors first; where the system refuses, nothing changes.

    Linux may share processors among sessions, and then among the processes of each (`sched_autogroup_enabled`): there
    the niceness of a process counts within its session alone. So one that leads a session sets the session's, too.
    """
    with suppress(OSError):
        os.nice(niceness)
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
