"""`python -m stack.processes.guard OPTIONS -- COMMAND`: runs a command, and ends it when its starter ends.

Only the starter holds the other end of the guard's input. A byte from there ends the command in good order. If the
input ends without one, the starter was killed; then the command's folder is removed too. The first line of output is
the command's process id; the command's own output goes to the guard's stderr. The guard's exit code is the command's,
as a shell gives it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final

from stack.processes import trees
from stack.services.users import identity

ENDED: Final = b"ended"
STARTER_DIED: Final = b""


def main() -> int:
    """Run the command to its end. Returns its exit code."""
    options = _options()
    process = _started(options)
    events: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_report_end, args=(process, events), daemon=True).start()
    # Not `sys.stdin`: a thread that waits there holds a lock that Python needs at exit.
    Thread(target=lambda: events.put(os.read(0, 1)), daemon=True).start()
    word = events.get()
    if word != ENDED:
        _end(process, options, events)
    if word == STARTER_DIED and options.folder:
        shutil.rmtree(options.folder, ignore_errors=True)
    return exit_code(process.wait())


def exit_code(code: int) -> int:
    """An exit code of `subprocess` as a shell gives it: 128 plus the signal's number if a signal ended the process."""
    return code if code >= 0 else 128 - code


def _options() -> Namespace:
    parser = ArgumentParser(prog="stack.processes.guard")
    parser.add_argument("--folder", help="the command's working folder, removed if the starter dies")
    parser.add_argument("--user", help="whom to run the command as")
    parser.add_argument("--stop-signal", type=int, required=True)
    parser.add_argument("--stop-seconds", type=float, required=True)
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _started(options: Namespace) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        options.command,
        cwd=options.folder,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
        **identity(options.user),
    )
    # If the starter was killed meanwhile, it does not read this; the end of our input will show that.
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), b"%d\n" % process.pid)
    return process


def _report_end(process: subprocess.Popen[bytes], events: SimpleQueue[bytes]) -> None:
    process.wait()
    events.put(ENDED)


def _end(process: subprocess.Popen[bytes], options: Namespace, events: SimpleQueue[bytes]) -> None:
    """Ask the command to end, and kill it if it does not. A frozen command is thawed, so that it gets the signal."""
    process.send_signal(options.stop_signal)
    trees.thaw(process.pid)
    try:
        events.get(timeout=options.stop_seconds)
    except Empty:
        trees.kill(process.pid)


if __name__ == "__main__":
    sys.exit(main())
