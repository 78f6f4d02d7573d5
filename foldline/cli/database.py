"""Opens the database that the settings name, for the commands that stand on it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import ceil
from pathlib import Path
from typing import Any, Protocol

from foldline import migrations
from foldline.cli.models_file import use_models_file
from foldline.log.errors import InvalidDatabase, SealingKeyMissing, Unavailable
from foldline.log.sealing.cipher import Cipher
from foldline.log.sealing.key_check import check_keys
from foldline.log.storage.engines.addresses import SQLITE, address_of, file_of
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.known_entries import KnownEntries
from foldline.log.storage.store import Limits, Store, translated
from foldline.log.storage.turns import OuterTurn
from foldline.migrations import CannotMigrate, Standing
from foldline.settings import InvalidSettings, Settings, load_settings
from foldline.summarizer_file import riding_models, summarizer_names, summarizer_rows, writers_of
from foldline.terminal import CommandFailed, ExitCode

logger = logging.getLogger(__name__)


class Traced(Protocol):
    """Whatever knows the trace of the current thread."""

    @property
    def traceparent(self) -> str | None:
        """The trace, as in W3C Trace Context."""


def settings_of(options: dict[str, Any]) -> Settings:
    """The settings of this process: the options given, then the environment. Its models file is used from now on.

    Raises:
        CommandFailed: a value, or a line of the models file or of the summarizers, cannot be used.
    """
    try:
        settings = load_settings(**{name: value for name, value in options.items() if value is not None})
        summarizer_rows(settings)
    except InvalidSettings as error:
        raise CommandFailed(str(error)) from error
    use_models_file(settings.models_file)
    return settings


def check_file(settings: Settings) -> None:
    """Makes sure that a database in a file is there, for commands that only work on one: opening would create it.

    Raises:
        CommandFailed: there is no such file, or the address is none of a database.
    """
    with _reporting_bad_address():
        address = address_of(settings.database_url)
    if address.get_backend_name() == SQLITE and not file_of(address).exists():
        is_named = "database_url" in settings.model_fields_set
        reason = "" if is_named else "FOLDLINE_DATABASE_URL is not set, and "
        raise CommandFailed(
            f"{reason}there is no database at {file_of(address).absolute()}: give the address of the "
            "service's with --database-url or FOLDLINE_DATABASE_URL, or make a new one with `foldline migrate`",
            ExitCode.SERVICE_FAILED,
        )


@contextmanager
def _reporting_bad_address() -> Iterator[None]:
    try:
        yield
    except InvalidDatabase as error:
        raise CommandFailed(f"{error}. It is read from --database-url or FOLDLINE_DATABASE_URL") from error


@contextmanager
def open_store(
    settings: Settings,
    tracing: Traced | None = None,
    file: KnownFile | None = None,
    outer_turn: OuterTurn = nullcontext,
) -> Iterator[Store]:
    """The store of a process, closed after the block. Its jobs remember the trace in which they were requested.

    `file` is the one that the process which started this one has open, and `outer_turn` gives turns at writing to it.

    Raises:
        CommandFailed: there is no such database, or it does not open, or it fails within the block, or it cannot be
            migrated there.
    """
    limits = Limits(
        lease_seconds=ceil(settings.lease_seconds),
        retry_seconds=ceil(settings.retry_seconds),
        retry_seconds_max=settings.retry_seconds_max,
        max_attempts=settings.max_attempts,
        summarizer_tokens=settings.summarizer_input_tokens,
        summarizer_calls=settings.summarizer_calls,
        summarizer_failures=settings.summarizer_failures,
        idempotency_seconds=ceil(settings.idempotency_hours * 3600),
        audit_seconds=ceil(settings.audit_days * 86_400),
        session_entries=settings.max_session_entries,
        session_bytes=settings.max_session_bytes,
        summarized_entries=settings.max_summarized_entries,
        retention_days=settings.retention_days,
        retention_days_by_tenant=settings.tenant_retention_days,
        tenant_sessions=settings.tenant_sessions,
        tenant_jobs=settings.tenant_jobs,
        compactors=frozenset(settings.compactor_keys),
        summarizers=summarizer_names(settings),
        usual=writers_of(settings),
        riding=riding_models(settings),
    )
    with _reporting_bad_address():
        store = Store(
            settings.database_url,
            limits=limits,
            connections=settings.database_connections,
            prepares=settings.database_prepared_statements,
            cipher=Cipher(settings.sealing_keys) if settings.sealing_keys else None,
            known=KnownEntries(settings.cache_bytes // 2),
            traceparent=lambda: tracing.traceparent if tracing else None,
            file=file,
            outer_turn=outer_turn,
        )
    try:
        with store.read():
            pass
        # Migrations are not a transaction of the store's.
        with translated():
            yield store
    except Unavailable as error:
        problem = _folder_problem(store) or error
        raise CommandFailed(
            f"the database at {place_of(store)} does not answer: {problem}. Check FOLDLINE_DATABASE_URL",
            ExitCode.SERVICE_FAILED,
        ) from error
    except CannotMigrate as error:
        raise CommandFailed(str(error), ExitCode.SERVICE_FAILED) from error
    finally:
        store.close()


def check_schema(store: Store) -> None:
    """Makes sure that this program can work with the database as it is, for processes that do not migrate it.

    A newer schema will do: migrations run first, and each keeps the version before it working.

    Raises:
        CommandFailed: the database is empty, or its schema is older than what this program needs, or it has values
            that were encrypted with a key that this process does not have.
    """
    schema = migrations.schema_of(store.engine)
    if schema.standing in {Standing.EMPTY, Standing.OLDER}:
        found = "is empty" if schema.revision is None else f"is at revision {schema.revision}"
        raise CommandFailed(
            f"the database at {place_of(store)} {found}; this version needs {schema.newest}: run `foldline migrate`",
            ExitCode.SERVICE_FAILED,
        )
    if schema.standing is Standing.NEWER:
        logger.warning(
            "the database is at revision %s, newer than %s, the newest known here", schema.revision, schema.newest
        )
    try:
        check_keys(store)
    except SealingKeyMissing as error:
        raise CommandFailed(f"{error}: add that key to FOLDLINE_ENCRYPTION_KEYS", ExitCode.SERVICE_FAILED) from error


@contextmanager
def opened_as_it_is(settings: Settings) -> Iterator[Store]:
    """The store of a service's database, which has to be there with tables that this program knows.

    Raises:
        CommandFailed: there is no such database, or it is older than this program.
    """
    check_file(settings)
    with open_store(settings) as store:
        check_schema(store)
        yield store


def place_of(store: Store) -> str:
    """Where the data is, as people read it: a file, or an address without its password.

    It has no query either: the driver takes passwords there too.
    """
    if store.is_sqlite and store.url.database:
        return str(file_of(store.url).absolute())
    return store.url.set(query={}).render_as_string(hide_password=True)


def _folder_problem(store: Store) -> str | None:
    """What is wrong with the folder of an SQLite file; the database only says that it cannot open the file."""
    if not store.is_sqlite:
        return None
    folder = Path(place_of(store)).parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    return None if os.access(folder, os.W_OK) else f"the folder {folder} cannot be written to"
