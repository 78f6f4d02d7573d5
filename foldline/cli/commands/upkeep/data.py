"""`foldline data`: exports or deletes all that a tenant has, and purges the database of what was deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from foldline.cli.database import opened_as_it_is, settings_of
from foldline.cli.options import DatabaseUrl
from foldline.log.access import audit
from foldline.log.access.audit import COMMAND, AuditedAction
from foldline.log.erasing.purging import purge as purge_database
from foldline.log.erasing.tenants import delete_tenant, has_any
from foldline.log.storage.store import Transaction
from foldline.log.transfer.tenant_export import export_tenant
from foldline.terminal import CommandFailed, ExitCode, answers, notes

OfTenant: TypeAlias = Annotated[str, typer.Option(help="Whose data it is.")]
OWNER_ONLY = 0o600

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Export or delete all that a tenant has; purge what was deleted."
)


@app.command()
def export(
    *,
    tenant: OfTenant,
    output: Annotated[Path, typer.Option("--output", "-o", help="New file to write, as JSON Lines.")],
    database_url: DatabaseUrl = None,
) -> None:
    """Write all sessions of a tenant with all that is in them, its keys and its audit trail to a file."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        with store.write() as tx:
            _check_known(tx, tenant)
            audit.record(tx, tenant, COMMAND, AuditedAction.EXPORTED)
        try:
            with os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
                for piece in export_tenant(store, tenant):
                    file.write(piece)
        except OSError as error:
            raise CommandFailed(f"cannot write {output}: {error.strerror}") from error
    notes().print(f"all that {tenant} has is in {output}", markup=False)


@app.command()
def delete(
    *,
    tenant: OfTenant,
    keys: Annotated[bool, typer.Option("--keys", help="Revoke its stored keys too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Delete all sessions of a tenant; the audit trail stays. `foldline data purge` removes them from the files too."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        with store.read() as tx:
            _check_known(tx, tenant)
        if not yes:
            typer.confirm(f"Delete all sessions of {tenant}?", abort=True, err=True)
        deleted = delete_tenant(store, tenant, COMMAND, with_keys=keys)
    answers().print(f"{deleted.sessions:,} sessions were deleted, and {deleted.keys:,} keys revoked")


def _check_known(tx: Transaction, tenant: str) -> None:
    if not has_any(tx, tenant):
        raise CommandFailed(f"there is no tenant {tenant!r}: it has no session, no key, and nothing in the audit trail")


@app.command()
def purge(*, database_url: DatabaseUrl = None) -> None:
    """Rewrite the database so that its files have nothing of what was deleted. Requests wait meanwhile."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        left = purge_database(store)
    if left:
        raise CommandFailed("\n".join(left), ExitCode.SERVICE_FAILED)
    answers().print("nothing of what was deleted is in the files of the database")
