"""`foldline jobs`: the operator's look at summary jobs, of all tenants and straight from the database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from foldline_worker.app import create_celery
from foldline_worker.broker.liveness import logger as outage_logger
from foldline_worker.broker.notifier import Notifier

from foldline.cli.database import opened_as_it_is, settings_of
from foldline.cli.jobs_table import STATES, as_json, print_table
from foldline.cli.process_setup import check_broker
from foldline.log.errors import Conflict, NotFound
from foldline.log.events import JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs import admin
from foldline.log.jobs.admin import Chosen
from foldline.log.storage.store import Store, Transaction
from foldline.settings import Settings
from foldline.terminal import CommandFailed, ExitCode, answers, notes, print_json

# Longer than a broker may take to be connected to and to take a message, for each of the two queues.
NOTIFY_SECONDS: Final = 20.0
CODES: Final = {NotFound: ExitCode.BAD_INPUT, Conflict: ExitCode.NEGATIVE_RESULT}

DatabaseUrl = Annotated[str | None, typer.Option(help="SQLAlchemy address; else FOLDLINE_DATABASE_URL.")]

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Look at summary jobs, and have them tried again or cancelled."
)


@app.command("list")
def list_jobs(
    *,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", help=f"Only jobs in this state, one of {', '.join(STATES)}; may be repeated."),
    ] = None,
    session: Annotated[str | None, typer.Option(help="Only jobs of the session with this id.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only jobs of this tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most jobs shown, of the newest.")] = 50,
    is_json: Annotated[bool, typer.Option("--json", help="Print JSON, one job a line.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """List jobs, newest last, and count them by state."""
    chosen = Chosen(_checked(states or []), session, tenant)
    with opened_as_it_is(settings_of({"database_url": database_url})) as store, store.read() as tx:
        jobs = admin.newest(tx, chosen, limit)
        counts = admin.count_by_state(tx, chosen)
        now = tx.now
    if is_json:
        for job in jobs:
            print_json(answers(), as_json(job))
    else:
        print_table(jobs, counts, now)


def _checked(states: list[str]) -> tuple[str, ...]:
    for state in states:
        if state not in STATES:
            raise CommandFailed(f"{state!r} is no state of a job; expected one of {', '.join(STATES)}")
    return tuple(states)


@app.command()
def retry(
    *,
    job_ids: Annotated[list[str] | None, typer.Argument(help="Ids of jobs, as `list` shows them.")] = None,
    is_failed: Annotated[
        bool, typer.Option("--failed", help="Every failed job that no later one of its branch came after.")
    ] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Queue again what failed, was cancelled or superseded; let what is held back after a failure run at once."""
    if bool(job_ids) == is_failed:
        raise CommandFailed("name the jobs to retry, or give --failed; `foldline jobs list --state failed` shows them")
    settings = settings_of({"database_url": database_url})
    if not settings.has_memory_broker:
        check_broker(settings, "jobs retry")
    with opened_as_it_is(settings) as store, _notifying(settings, store):
        worst = _each(store, job_ids or _failed(store), _retry)
    raise typer.Exit(worst)


@app.command()
def cancel(
    *,
    job_ids: Annotated[list[str], typer.Argument(help="Ids of jobs, as `list` shows them.")],
    database_url: DatabaseUrl = None,
) -> None:
    """Cancel jobs that wait or run; the worker that writes a summary for one stops within seconds."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        worst = _each(store, job_ids, _cancel)
    raise typer.Exit(worst)


def _each(store: Store, job_ids: Iterable[str], act: Callable[[Transaction, str], str]) -> ExitCode:
    """Do something to each job, in a transaction of its own, and print what became of it; the worst there was."""
    worst = ExitCode.DONE
    for job_id in job_ids:
        try:
            with store.write() as tx:
                became = act(tx, job_id)
        except (NotFound, Conflict) as error:
            worst = max(worst, CODES[type(error)])
            notes().print(f"{job_id}: {error}", markup=False, style="red")
        else:
            answers().print(f"{job_id}: {became}", markup=False)
    return worst


def _failed(store: Store) -> list[str]:
    with store.read() as tx:
        return admin.failed(tx)


def _retry(tx: Transaction, job_id: str) -> str:
    request = admin.retry(tx, job_id)
    if request.job_id == job_id:
        return "may run at once"
    return f"joined to {request.job_id}" if request.is_joined else f"queued again as {request.job_id}"


def _cancel(tx: Transaction, job_id: str) -> str:
    admin.cancel(tx, job_id)
    return JobState.CANCELLED


@contextmanager
def _notifying(settings: Settings, store: Store) -> Iterator[None]:
    """Notifies workers, after the block, of the jobs queued in it, or says when they will find them by themselves."""
    queues: set[str] = set()
    store.subscribe(lambda event: queues.add(event.queue) if isinstance(event, JobWaits) else None)
    try:
        yield
    finally:
        # Also for those that were queued before something failed.
        if queues and (settings.has_memory_broker or not _notify(settings, queues)):
            notes().print(
                "a running `foldline serve`, or beat and a worker, finds them at its next sweep, within "
                f"{settings.sweep_seconds:g} s",
                soft_wrap=True,
            )


def _notify(settings: Settings, queues: Iterable[str]) -> bool:
    """Whether the broker took the messages in time."""
    # Of its log there is nothing to see but a broker that is away, and that is said here.
    outage_logger.setLevel(logging.ERROR)
    with create_celery(settings) as celery:
        notifier = Notifier(celery)
        notifier.start()
        for queue in queues:
            notifier.notify(queue)
        notifier.stop(NOTIFY_SECONDS)
    if notifier.has_unsent:
        notes().print("the broker that FOLDLINE_BROKER_URL names does not answer", style="red")
    return not notifier.has_unsent
