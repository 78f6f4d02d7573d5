"""The other programs that the command starts: this one place knows how."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, TypeAlias

Process: TypeAlias = subprocess.Popen[bytes]
STOP_SECONDS: Final = 20.0
LONGEST_RUN_SECONDS: Final = 120.0


def start(command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> Process:
    """A running program whose output goes to a file.

    It gets a process group of its own: Ctrl-C reaches us alone, so that we stop it in good order.
    """
    return subprocess.Popen(command, stdout=output, stderr=output, env=dict(environment), start_new_session=True)


def stop(process: Process) -> None:
    """Ask a program to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def output_of(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Exit code and printed text of a program run to its end in `folder`."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LONGEST_RUN_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")
