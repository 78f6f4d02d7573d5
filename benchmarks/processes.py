"""The helper processes of a measurement: they end with our process, and they log when they are ready."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.processes.guarded import Guarded, Program
from stack.processes.members import Member
from stack.processes.signs import Logs


@contextmanager
def running(folder: Path, module: str, *arguments: str, until: str, **environment: str) -> Iterator[Member]:
    """`python -m module arguments`, from when it has logged `until` to the end of the block; its log is in `folder`.

    Raises:
        DidNotStart: it ended or did not get ready.
    """
    command = [sys.executable, "-m", module, *arguments]
    log = folder / f"{module}.log"
    member = Member(module, Guarded(Program(command, log=log, environment=environment)), Logs(until))
    member.start()
    try:
        member.wait_until_ready()
        yield member
    finally:
        member.stop()


@contextmanager
def serving(folder: Path, module: str, *arguments: str) -> Iterator[str]:
    """The address of a server that logs it as "listening on http://…"."""
    with running(folder, module, *arguments, until="listening on") as member:
        yield re.findall(r"listening on (http://\S+)", member.logged())[0]
