"""`foldline run -- COMMAND`: an agent through a private service, without a change to the agent."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from prometheus_client.parser import text_string_to_metric_families

from foldline.engine.models.windows import parse_size
from foldline.replay.embedded import kept_service
from foldline.telemetry import metric_catalog
from foldline.terminal import CommandFailed, ExitCode, notes

# What agents read their provider's address from, and the setting that says where requests then go on to.
ADDRESSES: Final = {
    "ANTHROPIC_BASE_URL": ("/anthropic", "FOLDLINE_ANTHROPIC_BASE_URL"),
    "OPENAI_BASE_URL": ("/openai/v1", "FOLDLINE_OPENAI_BASE_URL"),
}


def run(
    *,
    command: Annotated[list[str], typer.Argument(help="The agent and its arguments, after `--`.")],
    window: Annotated[
        str | None, typer.Option(help="Context window, as 32000 or 128k; else that of the agent's model.")
    ] = None,
    shadow: Annotated[bool, typer.Option("--shadow", help="Change nothing; only say what views would take.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the conversations; by default one of the user's.", show_default=False)
    ] = None,
) -> None:
    """Run an agent whose history may outgrow its model's window: `foldline run -- claude`."""
    folder = data or Path(typer.get_app_dir("foldline"))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    with (
        _own_file(folder) as database,
        kept_service(f"sqlite:///{database}", _settings(window, is_shadow=shadow)) as service,
    ):
        code = _run(command, {name: service.url + path for name, (path, _) in ADDRESSES.items()})
        notes().print(_report(service.metrics(), database), markup=False, soft_wrap=True)
    raise typer.Exit(code)


def _leave(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


@contextmanager
def _own_file(folder: Path) -> Iterator[Path]:
    """The first database of the folder that no other run has: two services would write to it in turn, and slowly."""
    for number in count(1):
        database = folder / ("gateway.db" if number == 1 else f"gateway-{number}.db")
        with database.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield database
            return


def _settings(window: str | None, *, is_shadow: bool) -> dict[str, str]:
    """The variables of the service. Where the agent would have sent its requests, they go on to."""
    given = {setting: os.environ[name] for name, (_, setting) in ADDRESSES.items() if os.environ.get(name)}
    if window is not None:
        try:
            given["FOLDLINE_GATEWAY_CONTEXT_WINDOW"] = str(parse_size(window))
        except ValueError as error:
            raise CommandFailed(f"--window: {error}") from error
    return given | ({"FOLDLINE_GATEWAY": "shadow"} if is_shadow else {})


def _run(command: Sequence[str], addresses: Mapping[str, str]) -> int:
    """The exit code of the agent, as a shell gives it. Ctrl-C is the agent's."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # What is ignored here would be ignored there.
        child = subprocess.Popen(command, env={**os.environ, **addresses}, preexec_fn=_take_interrupts)  # noqa: PLW1509
        code = _waited_for(child)
    except OSError as error:
        raise CommandFailed(f"{command[0]}: {error.strerror}", ExitCode.BAD_INPUT) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def _waited_for(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _report(metrics: str, database: Path) -> str:
    """What the gateway did, in one line."""
    totals: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            name = f"{sample.name}:{sample.labels['part']}" if "part" in sample.labels else sample.name
            totals[name] = totals.get(name, 0) + sample.value
    history, view = (totals.get(f"{metric_catalog.GATEWAY_TOKENS.name}:{part}", 0) for part in ("history", "view"))
    calls = totals.get(metric_catalog.GATEWAY_CALLS.name, 0)
    compactions = totals.get(metric_catalog.COMPACTIONS.name, 0)
    return (
        f"foldline: {calls:,.0f} requests, {history - view:,.0f} of {history:,.0f} input tokens saved, "
        f"{compactions:,.0f} compactions. To look: foldline serve --database-url sqlite:///{database}"
    )
