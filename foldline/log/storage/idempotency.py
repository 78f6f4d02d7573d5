"""Idempotency keys: the response to a request is a row, written in the same transaction as the request's effect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, false, func, insert, or_, select, tuple_

from foldline.engine.wire import dumps, loads
from foldline.log.errors import IdempotencyInFlight, IdempotencyMismatch
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import IDEMPOTENCY, one_of

_IS_OF_KEY: Final = and_(*(IDEMPOTENCY.c[name] == bindparam(name) for name in ("tenant", "route", "key")))
_GIVEN: Final = select(
    IDEMPOTENCY.c.request_hash, IDEMPOTENCY.c.status, IDEMPOTENCY.c.headers, IDEMPOTENCY.c.body
).where(_IS_OF_KEY, IDEMPOTENCY.c.created_at >= bindparam("oldest"))
_PLACE: Final = (IDEMPOTENCY.c.tenant, IDEMPOTENCY.c.route, IDEMPOTENCY.c.key)
_SESSION: Final = re.compile(r"^(?:[A-Z]+ )?/sessions/([^/]+)")
_DROP: Final = delete(IDEMPOTENCY).where(_IS_OF_KEY)
_INSERT: Final = insert(IDEMPOTENCY)


@dataclass(frozen=True, slots=True)
class Key:
    """The identity of a request; `route` is its method and concrete path, such as `POST /sessions/s1/messages`."""

    tenant: str
    route: str
    key: str
    request_hash: str

    @property
    def place(self) -> dict[str, str]:
        """The primary key of the row with its response."""
        return {"tenant": self.tenant, "route": self.route, "key": self.key}


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A stored response."""

    status: int
    headers: dict[str, str]
    body: bytes


def recall(tx: Transaction, key: Key) -> StoredResponse | None:
    """The stored response for this key, None if there is none or it has expired.

    Until the transaction ends, no other one can store a response for the key.

    Raises:
        IdempotencyInFlight: another request with this key is still running.
        IdempotencyMismatch: the key was used with another request body.
    """
    if not tx.try_lock(key.tenant, key.route, key.key):
        raise IdempotencyInFlight
    oldest = tx.now - tx.limits.idempotency_seconds * 1000
    row = tx.execute(_GIVEN, {**key.place, "oldest": oldest}).first()
    if row is None:
        return None
    if row.request_hash != key.request_hash:
        raise IdempotencyMismatch
    return StoredResponse(row.status, loads(row.headers), row.body)


def remember(tx: Transaction, key: Key, response: StoredResponse) -> None:
    """Store the response in this transaction, in place of an expired one."""
    tx.change(_DROP, key.place)
    row = {
        **key.place,
        "request_hash": key.request_hash,
        "status": response.status,
        "created_at": tx.now,
        "headers": dumps(response.headers),
        "body": response.body,
        "session_id": _session_of(key.route) or _session_of(response.headers.get("Location", "")),
    }
    tx.change(_INSERT, row)


def forget(tx: Transaction, tenant: str, session_ids: Iterable[str]) -> None:
    """Remove the stored responses of sessions' requests and of their creation or import: they quote deleted ones."""
    ids = [*session_ids]
    tx.execute(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.tenant == tenant, one_of(IDEMPOTENCY.c.session_id, ids)))
    quoting = [condition for session_id in ids for condition in _quoting(f"/sessions/{session_id}")]
    is_older = IDEMPOTENCY.c.tenant == tenant, IDEMPOTENCY.c.session_id.is_(None)
    tx.execute(delete(IDEMPOTENCY).where(*is_older, or_(false(), *quoting)))


def forget_tenant(tx: Transaction, tenant: str, limit: int) -> int:
    """Remove up to `limit` stored responses of a tenant; how many."""
    return _remove(tx, select(*_PLACE).where(IDEMPOTENCY.c.tenant == tenant).limit(limit).with_for_update())


def remove_old(tx: Transaction, limit: int) -> int:
    """Remove up to `limit` expired responses, without those that another transaction has locked; how many."""
    oldest = tx.now - tx.limits.idempotency_seconds * 1000
    chosen = select(*_PLACE).where(IDEMPOTENCY.c.created_at < oldest).limit(limit)
    return _remove(tx, chosen.with_for_update(skip_locked=True))


def _remove(tx: Transaction, chosen: Select[Any]) -> int:
    found = tx.execute(chosen).all()
    if found:
        tx.execute(delete(IDEMPOTENCY).where(tuple_(*_PLACE).in_([tuple(row) for row in found])))
    return len(found)


def _session_of(route: str) -> str:
    """The id of the session in a path, with or without a method; "" if there is none."""
    found = _SESSION.search(route)
    return found[1] if found else ""


def _quoting(place: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    requests = f"POST {place}/"
    # In a LIKE pattern the `_` of an id would stand for any character.
    is_its_own = func.substr(IDEMPOTENCY.c.route, 1, len(requests)) == requests
    return is_its_own, IDEMPOTENCY.c.headers == dumps({"Location": place})
