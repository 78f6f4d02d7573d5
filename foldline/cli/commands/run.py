"""`foldline run -- COMMAND`: an agent through a private service, without a change to the agent."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from prometheus_client.parser import text_string_to_metric_families

from foldline.cli.watching.running_services import OWNER_ALONE, named_in, user_folder
from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.windows import parse_size
from foldline.log.events import GatewayOutcome
from foldline.replay.embedded import kept_service
from foldline.settings import WINDOW_AT_LEAST
from foldline.telemetry import metric_catalog
from foldline.telemetry.metric_catalog import Metric
from foldline.terminal import CommandFailed, notes

# What agents read their provider's address from, and the setting that says where requests then go on to.
ADDRESSES: Final = {
    "ANTHROPIC_BASE_URL": ("/anthropic", "FOLDLINE_ANTHROPIC_BASE_URL"),
    "OPENAI_BASE_URL": ("/openai/v1", "FOLDLINE_OPENAI_BASE_URL"),
}
# Where a `foldline mcp` that the agent starts finds the service.
URL: Final = "FOLDLINE_URL"
MODE: Final = "FOLDLINE_GATEWAY"
PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
# Some clients read the first, some the second, some both.
NO_PROXY: Final = ("NO_PROXY", "no_proxy")
LOOPBACK: Final = ("127.0.0.1", "localhost")
# As shells say it.
NOT_FOUND: Final = 127
# What a request went on as after its first attempt, which is counted already.
REPEATED: Final = frozenset({GatewayOutcome.SENT_AGAIN, GatewayOutcome.VIEW_REFUSED})
# Why requests went on as they came.
REASONS: Final[Mapping[str, str]] = {
    GatewayOutcome.NO_VIEW: "without a view: no window is known for their model (--window gives one), or none fits",
    GatewayOutcome.NOT_UNDERSTOOD: "not understood",
    GatewayOutcome.FAILED: "after a failure",
    GatewayOutcome.TOO_SLOW: "after five seconds",
    GatewayOutcome.VIEW_REFUSED: "after their provider refused the view",
    GatewayOutcome.OFF: "switched off",
}


def run(
    *,
    command: Annotated[list[str], typer.Argument(help="The agent and its arguments, after `--`.")],
    window: Annotated[
        str | None, typer.Option(help="Context window, as 32000 or 128k; else that of the agent's model.")
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Port of the service, for agents that read its address from a file; 0 is any free one.",
        ),
    ] = 0,
    shadow: Annotated[bool, typer.Option("--shadow", help="Change nothing; only say what views would take.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the conversations; by default one of the user's.", show_default=False)
    ] = None,
) -> None:
    """Run an agent whose history may outgrow its model's window: `foldline run -- claude`."""
    folder = data or user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CommandFailed(f"--data: {folder}: {error.strerror}") from error
    is_shadow = shadow or os.environ.get(MODE) == GatewayOutcome.SHADOW
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    with (
        _own_file(folder) as database,
        kept_service(f"sqlite:///{database}", _settings(window, is_shadow=is_shadow), port) as service,
        named_in(_lock_of(database), service.url),
    ):
        addresses = {name: service.url + path for name, (path, _) in ADDRESSES.items()}
        try:
            code = _run(command, {**addresses, URL: service.url})
        finally:
            notes().print(_report(service.metrics(), database, is_shadow=is_shadow), markup=False, soft_wrap=True)
    raise typer.Exit(code)


def _leave(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


@contextmanager
def _own_file(folder: Path) -> Iterator[Path]:
    """The first database of the folder that no other run has: two services would write to it in turn, and slowly."""
    for number in count(1):
        database = folder / ("gateway.db" if number == 1 else f"gateway-{number}.db")
        # Until it is locked, it may have the address of another run.
        with open(_lock_of(database), "a", opener=partial(os.open, mode=OWNER_ALONE)) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            lock.truncate(0)
            yield database
            return


def _lock_of(database: Path) -> Path:
    return database.with_suffix(".lock")


def _settings(window: str | None, *, is_shadow: bool) -> dict[str, str]:
    """The variables of the service. Where the agent would have sent its requests, they go on to."""
    given = {setting: os.environ[name] for name, (_, setting) in ADDRESSES.items() if os.environ.get(name)}
    if window is not None:
        given["FOLDLINE_GATEWAY_CONTEXT_WINDOW"] = str(_size(window))
    return given | ({MODE: GatewayOutcome.SHADOW} if is_shadow else {})


def _size(window: str) -> int:
    try:
        size = parse_size(window)
    except InvalidPolicy as error:
        raise CommandFailed(f"--window: {error}") from error
    if size < WINDOW_AT_LEAST:
        raise CommandFailed(f"--window: must be at least {WINDOW_AT_LEAST:,} tokens")
    return size


def _run(command: Sequence[str], addresses: Mapping[str, str]) -> int:
    """The exit code of the agent, as a shell gives it. Ctrl-C is the agent's."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # What is ignored here would be ignored there.
        environment = {**os.environ, **proxy_exceptions(os.environ), **addresses}
        child = subprocess.Popen(command, env=environment, preexec_fn=_take_interrupts)  # noqa: PLW1509
        code = _waited_for(child)
    except OSError as error:
        notes().print(f"foldline: {command[0]}: {error.strerror}", markup=False)
        return NOT_FOUND
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def proxy_exceptions(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that keep requests to loopback away from a proxy; none if the environment names no proxy."""
    if not any(environment.get(name) or environment.get(name.upper()) for name in PROXIES):
        return {}
    given = {name: environment.get(name) or "" for name in NO_PROXY}
    either = given["NO_PROXY"] or given["no_proxy"]
    return {name: _with_loopback(value or either) for name, value in given.items()}


def _with_loopback(hosts: str) -> str:
    """The list of hosts with loopback. Some clients understand `*` only if nothing else is in the list."""
    listed = [host for host in map(str.strip, hosts.split(",")) if host]
    return hosts if listed == ["*"] else ",".join([*listed, *(host for host in LOOPBACK if host not in listed)])


def _waited_for(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _report(metrics: str, database: Path, *, is_shadow: bool) -> str:
    """What the gateway did, in one line."""
    calls = _totals(metrics, metric_catalog.GATEWAY_CALLS)
    tokens = _totals(metrics, metric_catalog.GATEWAY_TOKENS)
    compactions = sum(_totals(metrics, metric_catalog.COMPACTIONS).values())
    requests = sum(number for outcome, number in calls.items() if outcome not in REPEATED)
    if not requests:
        return f"foldline: no request came. Does the agent read {' or '.join(ADDRESSES)}?"
    history, view = tokens.get("history", 0), tokens.get("view", 0)
    passed = [f"{number:,.0f} {REASONS[outcome]}" for outcome, number in calls.items() if outcome in REASONS]
    as_they_came = f"As they came: {', '.join(passed)}. " if passed else ""
    return (
        f"foldline: {requests:,.0f} requests, {history - view:,.0f} of {history:,.0f} input tokens "
        f"{'would have been ' if is_shadow else ''}saved, {compactions:,.0f} compactions. "
        f"{as_they_came}"
        f"To look: foldline serve --database-url {shlex.quote(f'sqlite:///{database.resolve()}')}"
    )


def _totals(metrics: str, metric: Metric) -> dict[str, float]:
    """The sums of a metric by its first label."""
    totals: defaultdict[str, float] = defaultdict(float)
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            if sample.name == metric.name:
                totals[sample.labels[metric.labels[0]]] += sample.value
    return dict(totals)
