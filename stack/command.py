"""The command line: runs all of Foldline on this machine until Ctrl-C, or while a command runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Annotated

import typer

from foldline.terminal import ExitCode, answers, notes
from stack.compose import InvalidCompose
from stack.processes import trees
from stack.processes.guard import exit_code
from stack.processes.guarded import DidNotStart
from stack.screen import hints, lines, login, table
from stack.services.binaries import NoBinaries
from stack.stack import Stack

COMMAND_NOT_FOUND = 127
# Ctrl-C and SIGTERM mean the same: leave all blocks, which ends everything in good order.
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def main(
    *,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="Run this once all is ready, and end with it; {url} is the API's address."),
    ] = None,
    api_port: Annotated[int | None, typer.Option(help="Port of the first API process; else a free one.")] = None,
    apis: Annotated[int, typer.Option(min=1, help="API processes.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Worker processes, each for all queues; else one of each kind.")
    ] = None,
    logs: Annotated[Path | None, typer.Option(help="Folder for the logs; else one that goes at the end.")] = None,
) -> None:
    """Start Foldline and the services it stands on, each as a process of its own, and end them with Ctrl-C.

    They are those of docker/compose.yaml, as plain processes. FOLDLINE_ variables reach them; FOLDLINE_FLOWER_LOGIN is
    made up if there is none. DATABASE_URL and REDIS_URL name services to use instead of our own. A COMMAND finds
    FOLDLINE_URL, FOLDLINE_METRICS_URL, FOLDLINE_DATABASE_URL, FOLDLINE_BROKER_URL, FOLDLINE_FLOWER_URL and
    FOLDLINE_FLOWER_LOGIN in its environment.
    """
    stack = Stack(apis=apis, workers=workers, api_port=api_port, logs=logs, is_durable=True)
    try:
        _let_interrupt()
        code = _with_command(stack, command) if command else _until_interrupted(stack)
    except KeyboardInterrupt:
        # Without a command, an interrupt is the normal end.
        code = ExitCode.INTERRUPTED if command else ExitCode.DONE
    except (DidNotStart, InvalidCompose, NoBinaries) as error:
        notes().print(f"stack: {error}", markup=False, style="red")
        code = ExitCode.SERVICE_FAILED
    raise typer.Exit(code)


def _let_interrupt() -> None:
    """Raise the first interrupt from here on, also one that arrived while the program was being loaded."""
    for number in INTERRUPTS:
        signal.signal(number, _interrupted)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    # A second interrupt, as from make and from the terminal, must not disturb the shutdown.
    for number in INTERRUPTS:
        signal.signal(number, _ignored)
    raise KeyboardInterrupt


def _ignored(_number: int, _frame: FrameType | None) -> None:
    """Ignore a signal. Unlike SIG_IGN, programs that are started meanwhile do not inherit this."""


def _until_interrupted(stack: Stack) -> int:
    console = answers()
    shown = table if console.is_terminal else lines
    with shown(stack, console) as update, stack:
        update()
        console.print(hints(stack), markup=False, soft_wrap=True)
        with suppress(KeyboardInterrupt):
            Event().wait()
    return ExitCode.DONE


def _with_command(stack: Stack, command: list[str]) -> int:
    """Run the command. It has the terminal to itself, and the changes of the stack go to stderr, line by line."""
    console = notes()
    with lines(stack, console) as update, stack:
        update()
        console.print(login(stack), markup=False, soft_wrap=True)
        words = [word.replace("{url}", stack.api_url) for word in command]
        try:
            return _run(words, _environment(stack))
        except OSError as error:
            console.print(f"stack: cannot run {words[0]}: {error.strerror}", markup=False, style="red")
            return COMMAND_NOT_FOUND


def _run(words: list[str], environment: dict[str, str]) -> int:
    with subprocess.Popen(words, env=environment) as process:
        try:
            return exit_code(process.wait())
        except KeyboardInterrupt:
            # A shell alone would leave its child processes behind.
            trees.kill(process.pid)
            raise


def _environment(stack: Stack) -> dict[str, str]:
    """Our environment with the stack's variables, and with `foldline` on PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, **stack.variables}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(main)
