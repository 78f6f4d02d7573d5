"""`foldline migrate`: brings the database to this version's tables."""

from __future__ import annotations

from typing import Annotated

import typer

from foldline import migrations
from foldline.cli.database import open_store, settings_of
from foldline.cli.process_setup import print_status, telemetry_of
from foldline.migrations import Standing


def migrate(
    *, database_url: Annotated[str | None, typer.Option(help="SQLAlchemy address; else FOLDLINE_DATABASE_URL.")] = None
) -> None:
    """Bring the database to this version's tables; `foldline serve` does so by itself."""
    settings = settings_of({"database_url": database_url})
    with telemetry_of(settings, "migrate"):
        with open_store(settings) as store:
            before = migrations.upgrade(store.engine)
        is_done = before.standing is Standing.SAME
        change = f"already at {before.newest}" if is_done else f"{before.revision or 'empty'} → {before.newest}"
        print_status(settings, f"database: {change}")
