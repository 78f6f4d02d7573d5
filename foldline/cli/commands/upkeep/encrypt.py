"""`foldline encrypt`: encrypts what the database holds from before its keys were set, or changed."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from foldline.cli.database import opened_as_it_is, settings_of
from foldline.log.sealing.encrypting import encrypt_all, rows_of
from foldline.terminal import CommandFailed, answers, notes


def encrypt(
    *, database_url: Annotated[str | None, typer.Option(help="SQLAlchemy address; else FOLDLINE_DATABASE_URL.")] = None
) -> None:
    """Encrypt what is stored with the first of FOLDLINE_ENCRYPTION_KEYS, while the service goes on.

    Run it once after keys were set or changed, when all processes have them. Afterwards the old keys are not needed.
    """
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        if store.cipher is None:
            raise CommandFailed("there is no key: set FOLDLINE_ENCRYPTION_KEYS, as in `openssl rand -base64 32`")
        columns = BarColumn(), MofNCompleteColumn(), TextColumn("rows"), TimeElapsedColumn()
        with Progress(*columns, console=notes(), transient=True) as progress:
            task = progress.add_task("", total=rows_of(store))
            done = encrypt_all(store, store.cipher, lambda rows: progress.advance(task, rows))
    answers().print(f"{done:,} rows were encrypted with the key {store.cipher.first}; no other key is needed")
