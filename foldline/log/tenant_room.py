"""How many sessions and live jobs a tenant may have. They are counted the less often, the more room is left.

Jobs are counted where they are queued, in `foldline.log.compaction.enqueue`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache
from sqlalchemy import bindparam, func, select

from foldline.log.errors import TenantLimitReached
from foldline.log.storage.tables import SESSION

if TYPE_CHECKING:
    from foldline.log.storage.store import Transaction

SESSIONS: Final = "tenant_sessions"
# Of the room that a count found, a process fills this part before it counts again; others may fill theirs meanwhile.
ROOM_PART: Final = 16
# A tenant without room is not counted again for so long.
FULL_MILLISECONDS: Final = 1000
TENANTS_KNOWN: Final = 4096
# A guess: sessions go when somebody deletes them.
SESSIONS_RETRY_SECONDS: Final = 60

_SESSIONS: Final = select(func.count()).where(SESSION.c.tenant == bindparam("tenant"), SESSION.c.deleted_at.is_(None))


@dataclass(slots=True)
class _KnownRoom:
    """How many more there may be before the next count, or until when there is none; in milliseconds."""

    left: int
    full_until: int = 0


def _known() -> LRUCache[tuple[str, str], _KnownRoom]:
    return LRUCache(TENANTS_KNOWN)


@dataclass(slots=True)
class TenantRoom:
    """What a process knows of the room that tenants have."""

    _known: LRUCache[tuple[str, str], _KnownRoom] = field(default_factory=_known)
    _lock: Lock = field(default_factory=Lock)

    def take(self, name: tuple[str, str], most: int, count: Callable[[], int], now: int) -> bool:
        """Take room for one more of a tenant's; False if there is none. `name` is the limit and the tenant."""
        with self._lock:
            room = self._known.get(name)
            if room is not None and now < room.full_until:
                return False
            if room is not None and room.left > 0:
                room.left -= 1
                return True
        found = count()
        has_room = found < most
        left = (most - found) // ROOM_PART if has_room else 0
        with self._lock:
            self._known[name] = _KnownRoom(left, 0 if has_room else now + FULL_MILLISECONDS)
        return has_room


def check_sessions(tx: Transaction, tenant: str) -> None:
    """Check that a tenant may have one more session.

    Raises:
        TenantLimitReached: it may not.
    """
    most = tx.limits.tenant_sessions

    def count() -> int:
        return int(tx.execute(_SESSIONS, {"tenant": tenant}).scalar())

    if most and not tx.room.take((SESSIONS, tenant), most, count, tx.now):
        what = "the tenant has too many sessions; delete some"
        raise TenantLimitReached(most, SESSIONS, what, SESSIONS_RETRY_SECONDS)
