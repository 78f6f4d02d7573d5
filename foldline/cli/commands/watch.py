"""`foldline watch`: the sessions of a service in a terminal, as they change."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from time import sleep
from typing import Annotated

import typer
from rich.live import Live

from foldline.cli.options import ApiKey, address_of
from foldline.cli.watching.picture import picture
from foldline.cli.watching.running_services import running_services, user_folder
from foldline.cli.watching.states import states
from foldline.terminal import CommandFailed, ExitCode, answers


def watch(
    *,
    session: Annotated[
        str | None, typer.Option(help="Id of the session to watch; else the one that got a message last.")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 1.0,
    is_once: Annotated[bool, typer.Option("--once", help="Print one picture and end, as into a pipe.")] = False,
    url: Annotated[
        str | None, typer.Option(envvar="FOLDLINE_URL", help="A running service; else that of a `foldline run`.")
    ] = None,
    api_key: ApiKey = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of that run, if it was given --data.", show_default=False)
    ] = None,
) -> None:
    """Watch a session: how full its view is, what was compacted, and its jobs.

    It is the session that got a message last; of the five that did so, those without tools, such as for titles, are
    passed over. Ctrl-C ends it.
    """
    console = answers()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), closing(states(partial(_services, url, data), api_key, session)) as found:
        if is_once or not console.is_terminal or console.is_dumb_terminal:
            console.print(picture(next(found)))
            return
        # The last picture stays.
        with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
            for state in found:
                live.update(picture(state), refresh=True)
                sleep(interval)


def _services(url: str | None, data: Path | None) -> Sequence[str]:
    """The addresses of services, the one to watch first."""
    if url is not None:
        return [address_of(url)]
    folder = data or user_folder()
    found = running_services(folder)
    if not found:
        raise CommandFailed(
            f"no `foldline run` with its data in {folder} is running. Start an agent with `foldline run -- COMMAND`, "
            "or name a service with --url",
            ExitCode.SERVICE_FAILED,
        )
    return found
