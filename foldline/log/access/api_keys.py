"""API keys: creates, finds, lists and revokes them. A key is shown once; the database has a digest of it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, exists, insert, literal, or_, select, update

from foldline.log.errors import NotFound
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import API_KEY

SECRET_BYTES: Final = 32
# The form is public; what has another one is no key, and is not looked up.
_FORM: Final = re.compile(r"fl_[0-9A-Za-z]+_[0-9a-f]{64}")
# After so long, every process whose database answers refuses a key that was revoked.
REVOKED_SECONDS: Final = 2.0
# The time of the last use is as old as this at most, so that few requests write it.
USE_MILLISECONDS: Final = 3_600_000
# Of a key whose tenant was deleted.
NO_NAME: Final = "-"
# What a key is compared with if there is none of its id. No text is known that has this digest.
_OF_NO_KEY: Final = bytes(32)

_BY_ID: Final = select(API_KEY).where(API_KEY.c.id == bindparam("id"))
# One row always, of NULLs if there is no such key: what is read and converted is the same.
_ONE: Final = select(literal(1).label("one")).subquery()
_FOUND: Final = select(API_KEY).select_from(_ONE.outerjoin(API_KEY, API_KEY.c.id == bindparam("id")))
_HAS_ANY: Final = select(exists().select_from(API_KEY))


class KeyScope(StrEnum):
    """What a key is for. None includes another; a key may have several."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


ALL_SCOPES: Final = frozenset(KeyScope)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key. The key itself begins with its `id`. Times are milliseconds since the epoch."""

    number: int
    id: str
    tenant: str
    name: str
    scopes: frozenset[KeyScope]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    used_at: int | None = None

    def has_expired(self, now: int) -> bool:
        """Whether the key has no use any more at this time, in milliseconds since the epoch."""
        return self.expires_at is not None and self.expires_at <= now


class Revoked(NamedTuple):
    """A key that is revoked, and whether it was not before."""

    key: ApiKey
    is_new: bool


def digest_of(key: str) -> bytes:
    """The 32 bytes that a key is recognised by.

    A slow hash, as for passwords, would protect secrets that can be guessed. A secret here is 256 random bits, which
    nobody finds by trying, and each request would pay for it.
    """
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()


def create(
    tx: Transaction, tenant: str, name: str, scopes: Iterable[KeyScope], expires_at: int | None = None
) -> tuple[ApiKey, str]:
    """Create a key; what is stored, and the key as its owner gets it: `fl_<prefix>_<secret>`."""
    key_id, chosen = tx.new_id("fl"), {*scopes}
    key = f"{key_id}_{secrets.token_hex(SECRET_BYTES)}"
    values = {
        "id": key_id,
        "tenant": tenant,
        "name": name,
        "scopes": " ".join(scope for scope in KeyScope if scope in chosen),
        "digest": digest_of(key),
        "created_at": tx.now,
        "expires_at": expires_at,
    }
    tx.execute(insert(API_KEY).values(values))
    return _key_of(tx.execute(_BY_ID, {"id": key_id}).one()), key


def is_key(text: str) -> bool:
    """Whether the text has the form of a stored key."""
    return _FORM.fullmatch(text) is not None


def find(tx: Transaction, key: str) -> ApiKey | None:
    """The stored key that this is, expired and revoked ones included; None if there is none.

    Whether the id or the secret is wrong, the work is the same: one indexed look-up, one digest and one comparison in
    constant time. So the duration says nothing about which ids exist. Only the owner of a key learns that it has
    expired or was revoked.
    """
    row = tx.execute(_FOUND, {"id": key.rpartition("_")[0]}).one()
    is_it = hmac.compare_digest(row.digest or _OF_NO_KEY, digest_of(key))
    return _key_of(row) if is_it else None


def has_any(tx: Transaction) -> bool:
    """Whether a key was ever stored. Revoked ones count: after its last key, a service must not open to everybody."""
    return bool(tx.execute(_HAS_ANY).scalar())


def list_keys(tx: Transaction, tenant: str | None, after_number: int = 0, limit: int | None = None) -> list[ApiKey]:
    """Up to `limit` keys after the one with this number, oldest first; of all tenants if `tenant` is None."""
    chosen = [API_KEY.c.number > after_number, *_of(tenant)]
    rows = tx.execute(select(API_KEY).where(*chosen).order_by(API_KEY.c.number).limit(limit))
    return [_key_of(row) for row in rows]


def revoke(tx: Transaction, tenant: str | None, name: str) -> Revoked:
    """Revoke a key, named by its id or by the whole of it; one that is revoked keeps its time.

    Of any tenant if `tenant` is None.

    Raises:
        NotFound: no such key.
    """
    # Nothing quotes the secret of a key that somebody pastes here because it leaked.
    key_id = name.rpartition("_")[0] if is_key(name) else name
    is_it = (API_KEY.c.id == key_id, *_of(tenant))
    is_active = API_KEY.c.revoked_at.is_(None)
    changed = tx.execute(update(API_KEY).where(*is_it, is_active).values(revoked_at=tx.now)).rowcount
    row = tx.execute(select(API_KEY).where(*is_it)).first()
    if row is None:
        raise NotFound("key", key_id)
    return Revoked(_key_of(row), bool(changed))


def revoke_all(tx: Transaction, tenant: str) -> list[str]:
    """Revoke the keys of a tenant that are not revoked yet, and remove the names of all; the ids of the former."""
    is_active = (API_KEY.c.tenant == tenant, API_KEY.c.revoked_at.is_(None))
    revoked = tx.execute(update(API_KEY).where(*is_active).values(revoked_at=tx.now).returning(API_KEY.c.id))
    ids: list[str] = [*revoked.scalars()]
    tx.execute(update(API_KEY).where(API_KEY.c.tenant == tenant).values(name=NO_NAME))
    return ids


def is_use_due(key: ApiKey, now: int) -> bool:
    """Whether a use now is to be noted."""
    return key.used_at is None or now - key.used_at >= USE_MILLISECONDS


def note_use(tx: Transaction, key_ids: Iterable[str]) -> None:
    """Note that these keys are used, except those of which another process has just noted it."""
    is_due = or_(API_KEY.c.used_at.is_(None), API_KEY.c.used_at <= tx.now - USE_MILLISECONDS)
    tx.execute(update(API_KEY).where(API_KEY.c.id.in_(sorted(key_ids)), is_due).values(used_at=tx.now))


def _of(tenant: str | None) -> tuple[Any, ...]:
    return () if tenant is None else (API_KEY.c.tenant == tenant,)


def _key_of(row: Any) -> ApiKey:
    scopes = frozenset(KeyScope(scope) for scope in row.scopes.split())
    times = (row.created_at, row.expires_at, row.revoked_at, row.used_at)
    return ApiKey(row.number, row.id, row.tenant, row.name, scopes, *times)
