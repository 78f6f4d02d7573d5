"""Opens the database that the settings name, for the commands that stand on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from cli.failures import CommandFailed, ExitCode
from sessions.errors import Unavailable
from sessions.settings import InvalidSettings, Settings, load_settings
from sessions.store import Limits, Store


def settings_of(options: dict[str, Any]) -> Settings:
    """The settings of this process: the options given, then the environment.

    Raises:
        CommandFailed: a value cannot be used.
    """
    try:
        return load_settings(**{name: value for name, value in options.items() if value is not None})
    except InvalidSettings as error:
        raise CommandFailed(str(error)) from error


@contextmanager
def open_store(settings: Settings) -> Iterator[Store]:
    """The store of a process, closed after the block.

    Raises:
        CommandFailed: the database does not open, or fails within the block.
    """
    limits = Limits(
        lease_seconds=ceil(settings.lease_seconds),
        retry_seconds=ceil(settings.retry_seconds),
        max_attempts=settings.max_attempts,
        summarizer_tokens=settings.summarizer_input_tokens,
        idempotency_seconds=ceil(settings.idempotency_hours * 3600),
    )
    store = Store(settings.database_url, limits=limits)
    try:
        with store.read():
            pass
        yield store
    except Unavailable as error:
        where = store.url.render_as_string(hide_password=True)
        raise CommandFailed(
            f"the database at {where} does not answer: {error}. Check FOLDLINE_DATABASE_URL", ExitCode.SERVICE_FAILED
        ) from error
    finally:
        store.close()
