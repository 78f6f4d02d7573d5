"""`foldline import` and `foldline export`: session files of pi into a database or a running service, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer
from foldline_api.http.auth import DEFAULT_TENANT

from foldline import migrations
from foldline.cli.database import check_file, check_schema, open_store, settings_of
from foldline.cli.options import ApiKey, DatabaseUrl, Tenant, address_of, check_policy
from foldline.client import Client, Refused
from foldline.engine.errors import CompactionError
from foldline.engine.session_files import pi
from foldline.log.access import audit
from foldline.log.access.audit import COMMAND, AuditedAction
from foldline.log.errors import Conflict, SessionsError
from foldline.log.storage.store import Store
from foldline.log.transfer.exporting import export_session
from foldline.log.transfer.importing import PRESET, import_session
from foldline.log.transfer.prepared import prepare
from foldline.replay.transcripts import STDIN, bytes_of
from foldline.terminal import CommandFailed, ExitCode, answers, notes, table_of

Url: TypeAlias = Annotated[str | None, typer.Option(help="A running service to talk to; else the database.")]
COUNTS: Final = ("entries", "messages", "branches", "compactions")


def import_file(
    *,
    file: Annotated[Path, typer.Argument(help="A session file of pi (JSON Lines); - is stdin.")],
    session: Annotated[str | None, typer.Option(help="Id of the session that is made; else the file's.")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as provider/name; else the file's.")] = None,
    window: Annotated[str | None, typer.Option(help="Context window, as 32000 or 128k; else the model's.")] = None,
    policy: Annotated[str, typer.Option("--policy", "--preset", help="Preset of the session.")] = PRESET,
    url: Url = None,
    api_key: ApiKey = None,
    database_url: DatabaseUrl = None,
    tenant: Tenant = None,
) -> None:
    """Make a session of a session file: its messages, branches, compactions and branch summaries, or nothing at all.

    It goes into the database, or with --url into a running service. Nothing is compacted by that. A line that cannot be
    read is named.
    """
    given = {"id": session, "model": model, "context_window": window, "policy": {"preset": policy}}
    given = {name: value for name, value in given.items() if value is not None}
    content = bytes_of(file)
    with _failures_named(file):
        if url is None:
            check_policy(policy)
            made = _into_database(content, given, database_url, tenant or DEFAULT_TENANT)
        else:
            body = {"file": pi.decoded(content), **given}
            with Client(address_of(url), api_key) as service:
                made = service.import_file(body)
    notes().print(table_of((("session", False), *((name, True) for name in COUNTS)), [_row(made)]))
    answers().print(made["session"]["id"], markup=False)


def _row(made: dict[str, Any]) -> list[str]:
    return [made["session"]["id"], *(f"{made[name]:,}" for name in COUNTS)]


def _into_database(content: bytes, given: dict[str, Any], database_url: str | None, tenant: str) -> dict[str, Any]:
    prepared = prepare(pi.read(content))
    with open_store(settings_of({"database_url": database_url})) as store:
        if store.is_sqlite:
            # As `foldline serve` does: there may be no file yet.
            migrations.upgrade(store.engine)
        check_schema(store)
        with store.write() as tx:
            made = import_session(tx, tenant, given, prepared)
            audit.record(tx, tenant, COMMAND, AuditedAction.IMPORTED, session_id=made.path.session.id)
    return {"session": {"id": made.path.session.id}, **{name: getattr(made, name) for name in COUNTS}}


def export_file(
    *,
    session: Annotated[str, typer.Argument(help="Id of the session.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of to stdout.")] = None,
    url: Url = None,
    api_key: ApiKey = None,
    database_url: DatabaseUrl = None,
    tenant: Tenant = None,
) -> None:
    """Write a session as a session file of pi: what came from one as it was, all else as pi has it."""
    with _failures_named(session):
        if url is None:
            text = _from_database(session, database_url, tenant or DEFAULT_TENANT)
        else:
            with Client(address_of(url), api_key) as service:
                text = service.export(session)
    if output is None:
        answers().out(text, highlight=False, end="")
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"cannot write {output}: {error.strerror}") from error


def _from_database(session: str, database_url: str | None, tenant: str) -> str:
    with opened(database_url) as store:
        with store.read() as tx:
            text = export_session(tx, tenant, session)
        with store.write() as tx:
            audit.record(tx, tenant, COMMAND, AuditedAction.EXPORTED, session_id=session)
    return text


@contextmanager
def opened(database_url: str | None) -> Iterator[Store]:
    """The database of sessions that are there.

    Raises:
        CommandFailed: there is none.
    """
    settings = settings_of({"database_url": database_url})
    check_file(settings)
    with open_store(settings) as store:
        check_schema(store)
        yield store


@contextmanager
def _failures_named(what: Path | str) -> Iterator[None]:
    place = "stdin" if what == STDIN else what
    try:
        yield
    except (CompactionError, SessionsError) as error:
        remedy = OTHER_ID if isinstance(error, Conflict) else ""
        raise CommandFailed(f"{place}: {_by_options(str(error))}{remedy}") from error
    except Refused as refused:
        code = ExitCode.SERVICE_FAILED if refused.status >= SERVER_ERROR else ExitCode.BAD_INPUT
        remedy = OTHER_ID if refused.name == "conflict" else ""
        raise CommandFailed(f"{place}: {_by_options(refused.detail or refused.name)}{remedy}", code) from refused


OTHER_ID: Final = "; give another with --session"
SERVER_ERROR: Final = 500
# By the fields of a new session, as errors name them: before a colon, or as code.
OPTIONS: Final = {"context_window": "--window", "model": "--model"}


def _by_options(message: str) -> str:
    for field, option in OPTIONS.items():
        message = re.sub(rf"^{field}(?=: )|`{field}`", option, message)
    return message
