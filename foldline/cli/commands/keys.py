"""`foldline keys`: the operator's API keys, of any tenant and straight in the database."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from foldline_api.http.auth import DEFAULT_TENANT
from foldline_api.serializers import key_json

from foldline.cli.database import opened_as_it_is, settings_of
from foldline.log.access import api_keys, audit
from foldline.log.access.api_keys import ApiKey, KeyScope
from foldline.log.access.audit import COMMAND, AuditedAction
from foldline.log.errors import NotFound
from foldline.log.storage.ids import is_name
from foldline.log.storage.store import Transaction
from foldline.terminal import CommandFailed, answers, notes, print_json, table_of

DAY_MILLISECONDS: Final = 86_400_000
DAYS_MAX: Final = 36_500
COLUMNS: Final = tuple((name, False) for name in ("key", "tenant", "name", "scopes", "state", "created", "last used"))

DatabaseUrl = Annotated[str | None, typer.Option(help="SQLAlchemy address; else FOLDLINE_DATABASE_URL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one key a line.")]

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Create, list and revoke the API keys of a service.")


@app.command()
def create(
    *,
    name: Annotated[str, typer.Argument(help="What the key is for, as lists show it.")],
    tenant: Annotated[str, typer.Option(help="Whose sessions the key opens.")] = DEFAULT_TENANT,
    scopes: Annotated[
        list[KeyScope] | None,
        typer.Option("--scope", help="What the key may do; may be repeated. Default: read and write."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=DAYS_MAX, help="Days until the key expires. Default: never.")
    ] = None,
    is_json: AsJson = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Create a key, and print it: it is shown only now. Running services accept it within seconds."""
    for option, value in (("NAME", name), ("--tenant", tenant)):
        if not is_name(value):
            raise CommandFailed(f"{option} must have 1 to 200 characters, and none of them a control character")
    with opened_as_it_is(settings_of({"database_url": database_url})) as store, store.write() as tx:
        expires_at = None if days is None else tx.now + days * DAY_MILLISECONDS
        created, key = api_keys.create(tx, tenant, name, scopes or (KeyScope.READ, KeyScope.WRITE), expires_at)
        audit.record(tx, tenant, COMMAND, AuditedAction.CREATED_KEY, object_id=created.id)
    if is_json:
        print_json(answers(), {**_json_of(created), "key": key})
        return
    answers().out(key, highlight=False)
    notes().print(f"the key {created.id} of {tenant} is shown only here; the database has a hash of it", markup=False)


@app.command("list")
def list_keys(
    *,
    tenant: Annotated[str | None, typer.Option(help="Only keys of this tenant.")] = None,
    is_json: AsJson = False,
    database_url: DatabaseUrl = None,
) -> None:
    """List the stored keys, oldest first, with those that expired or were revoked."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store, store.read() as tx:
        found, now = api_keys.list_keys(tx, tenant), tx.now
    if is_json:
        for key in found:
            print_json(answers(), _json_of(key))
    elif found:
        console = answers()
        console.print(table_of(COLUMNS, (_row(key, now) for key in found)), soft_wrap=True)
    else:
        answers().print("no keys are stored")


@app.command()
def revoke(
    *,
    key_ids: Annotated[list[str], typer.Argument(help="Ids of keys, as `list` shows them, or whole keys.")],
    tenant: Annotated[str | None, typer.Option(help="Only keys of this tenant.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke keys: all, or none if one does not exist. Running services refuse them within seconds."""
    with opened_as_it_is(settings_of({"database_url": database_url})) as store:
        try:
            with store.write() as tx:
                revoked = [_revoke(tx, tenant, key_id) for key_id in key_ids]
        except NotFound as error:
            raise CommandFailed(f"{error}; `foldline keys list` shows what there is") from error
    for key in revoked:
        answers().print(f"{key.id}: revoked", markup=False)


def _revoke(tx: Transaction, tenant: str | None, key_id: str) -> ApiKey:
    key, is_new = api_keys.revoke(tx, tenant, key_id)
    if is_new:
        audit.record(tx, key.tenant, COMMAND, AuditedAction.REVOKED_KEY, object_id=key.id)
    return key


def _json_of(key: ApiKey) -> dict[str, Any]:
    return {"tenant": key.tenant, **key_json(key)}


def _row(key: ApiKey, now: int) -> tuple[str, ...]:
    shown = key_json(key)
    return (
        key.id,
        key.tenant,
        key.name,
        ",".join(shown["scopes"]),
        _state(key, shown, now),
        shown["created_at"][:10],
        (shown["used_at"] or "never")[:10],
    )


def _state(key: ApiKey, shown: dict[str, Any], now: int) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.has_expired(now):
        return "expired"
    return "active" if key.expires_at is None else f"until {shown['expires_at'][:10]}"
