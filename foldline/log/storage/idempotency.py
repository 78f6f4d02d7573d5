"""Idempotency keys: the answer to a request is a row, written in the transaction of its effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import and_, bindparam, delete, func, insert, select

from foldline.engine.wire import dumps, loads
from foldline.log.errors import IdempotencyInFlight, IdempotencyMismatch
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import IDEMPOTENCY

_IS_OF_KEY: Final = and_(*(IDEMPOTENCY.c[name] == bindparam(name) for name in ("tenant", "route", "key")))
_GIVEN: Final = select(
    IDEMPOTENCY.c.request_hash, IDEMPOTENCY.c.status, IDEMPOTENCY.c.headers, IDEMPOTENCY.c.body
).where(_IS_OF_KEY, IDEMPOTENCY.c.created_at >= bindparam("oldest"))
_DROP: Final = delete(IDEMPOTENCY).where(_IS_OF_KEY)
_INSERT: Final = insert(IDEMPOTENCY)


@dataclass(frozen=True, slots=True)
class Key:
    """What identifies a request: `route` is its method and concrete path."""

    tenant: str
    route: str
    key: str
    request_hash: str

    @property
    def place(self) -> dict[str, str]:
        """Where its answer is kept."""
        return {"tenant": self.tenant, "route": self.route, "key": self.key}


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A remembered answer."""

    status: int
    headers: dict[str, str]
    body: bytes


def recall(tx: Transaction, key: Key) -> StoredResponse | None:
    """The answer given to this key before, if any. If there is none, nobody else can give one before this transaction
    has ended.

    Raises:
        IdempotencyInFlight: a request with this key is being worked on.
        IdempotencyMismatch: it was given to another request.
    """
    if not tx.hold(key.tenant, key.route, key.key):
        raise IdempotencyInFlight
    oldest = tx.now - tx.limits.idempotency_seconds * 1000
    row = tx.execute(_GIVEN, {**key.place, "oldest": oldest}).first()
    if row is None:
        return None
    if row.request_hash != key.request_hash:
        raise IdempotencyMismatch
    return StoredResponse(row.status, loads(row.headers), row.body)


def remember(tx: Transaction, key: Key, answer: StoredResponse) -> None:
    """Keep the answer, together with the effect of this transaction; in place of one too old to be recalled."""
    tx.execute(_DROP, key.place)
    row = {
        **key.place,
        "request_hash": key.request_hash,
        "status": answer.status,
        "created_at": tx.now,
        "headers": dumps(answer.headers),
        "body": answer.body,
    }
    tx.execute(_INSERT, row)


def forget(tx: Transaction, tenant: str, session_id: str) -> None:
    """Drop the answers to a session's requests, that to its creation too, so that none tells of what is gone."""
    place = f"/sessions/{session_id}"
    requests = f"POST {place}/"
    # In a LIKE pattern the `_` of an id would stand for any character.
    is_its_own = func.substr(IDEMPOTENCY.c.route, 1, len(requests)) == requests
    is_its_creation = (IDEMPOTENCY.c.route == "POST /sessions") & (IDEMPOTENCY.c.headers == dumps({"Location": place}))
    tx.execute(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.tenant == tenant, is_its_own | is_its_creation))
