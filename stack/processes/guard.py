"""`python -m stack.processes.guard OPTIONS -- COMMAND`: runs a command for as long as its starter lives, at most.

The starter alone holds the other end of the guard's input. A line from there ends the command in good order; that the
input ends without one means that the starter was killed, and then the command's folder goes too. The first line of
output is the command's process id; the command's own output goes to the guard's stderr. The guard's exit code is the
command's, as shells have it.
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
    """Run the command to its end; its exit code."""
    options = _options()
    process = _started(options)
    events: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_say_end, args=(process, events), daemon=True).start()
    # Not `sys.stdin`: a thread that waits there holds a lock that Python wants at exit.
    Thread(target=lambda: events.put(os.read(0, 1)), daemon=True).start()
    word = events.get()
    if word != ENDED:
        _end(process, options, events)
    if word == STARTER_DIED and options.folder:
        shutil.rmtree(options.folder, ignore_errors=True)
    return exit_code(process.wait())


def exit_code(code: int) -> int:
    """An exit code of `subprocess` as shells have it: 128 and the signal's number for what a signal ended."""
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
    # A starter that was killed meanwhile does not read; the end of our input will say.
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), b"%d\n" % process.pid)
    return process


def _say_end(process: subprocess.Popen[bytes], events: SimpleQueue[bytes]) -> None:
    process.wait()
    events.put(ENDED)


def _end(process: subprocess.Popen[bytes], options: Namespace, events: SimpleQueue[bytes]) -> None:
    """Ask the command to end, and end it if it does not; a frozen one can only hear us once it is thawed."""
    process.send_signal(options.stop_signal)
    trees.thaw(process.pid)
    try:
        events.get(timeout=options.stop_seconds)
    except Empty:
        trees.kill(process.pid)


if __name__ == "__main__":
    sys.exit(main())
