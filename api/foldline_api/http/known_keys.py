"""The callers behind keys: those of the environment, and stored ones, each read again every few seconds."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES, ApiKey, KeyScope, digest_of
from foldline.log.errors import Unavailable
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline_api.detached import Detached
from foldline_api.http.problems import Unauthorized

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A key that was revoked is refused after twice this time. New keys are known at once.
KNOWN_SECONDS: Final = api_keys.REVOKED_SECONDS / 2
# While the database does not answer, nobody can revoke a key either: what was known is good for some more time, so that
# requests which need no database go on.
KNOWN_SECONDS_MAX: Final = 300.0
LOOK_UP_SECONDS: Final = 2.0
KNOWN_MAX: Final = 4096
# Whoever tries out keys must not take all threads.
LOOK_UPS_AT_ONCE: Final = 4

ENVIRONMENT: Final = "environment"
LOCAL: Final = "local"
UNKNOWN_KEY: Final = "the key is not known; on the routes of its gateway, `X-Foldline-Key` has Foldline's key"
EXPIRED_KEY: Final = "the key has expired; create another one"
REVOKED_KEY: Final = "the key was revoked"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request; `name` is the id of a stored key, or `ENVIRONMENT`, or `LOCAL` on a service without keys."""

    tenant: str
    name: str
    scopes: frozenset[KeyScope] = ALL_SCOPES


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A stored key as it was read; the times are seconds of the store's stopwatch."""

    key: ApiKey
    read_at: float
    again_at: float


@dataclass(slots=True)
class KnownKeys:
    """The keys that one application accepts.

    The timing of an answer says nothing of a key that one does not have. Keys of the environment are compared by
    digest, all of them, in constant time. A stored key costs one indexed look-up and one comparison, whichever part of
    it is wrong (see `api_keys.find`). What is known is found by the digest of the whole key, and holds good keys only.
    """

    store: Store
    are_needed: bool
    _of_environment: list[tuple[bytes, Caller]]
    _known: dict[bytes, KnownKey] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    _tasks: Detached = field(default_factory=lambda: Detached("foldline-keys"))
    _look_ups: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(LOOK_UPS_AT_ONCE))

    @classmethod
    def of(cls, settings: Settings, store: Store) -> KnownKeys:
        """Those of the settings and the store.

        They are needed from the start if the service can be reached from outside, or has some in the environment; else
        once one is stored.
        """
        given = settings.tenants_by_key
        callers = [(digest_of(key), Caller(tenant, ENVIRONMENT)) for key, tenant in given.items()]
        return cls(store, bool(given) or not settings.is_local, callers)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """During the block, the first stored key has requests need one, and it is noted which keys are used."""
        with anyio.move_on_after(LOOK_UP_SECONDS):
            await self._look()
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
            yield
            group.cancel_scope.cancel()
        # A connection that is in use would not be closed with the store.
        await self._tasks.ended(LOOK_UP_SECONDS)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(KNOWN_SECONDS)
            await self._look()

    async def _look(self) -> None:
        try:
            await asyncio.shield(self._started(self._read_and_note))
        except Unavailable as error:
            # Readiness and the requests themselves say so; this would be a line a second.
            logger.debug("keys cannot be looked at: %s", error)

    def _read_and_note(self) -> None:
        if not self.are_needed:
            with self.store.read() as tx:
                self.are_needed = api_keys.has_any(tx)
        used = self._used.copy()
        if used:
            with self.store.write() as tx:
                api_keys.note_use(tx, used)
        self._used -= used

    async def caller(self, key: str) -> Caller:
        """Whose key this is.

        Raises:
            Unauthorized: nobody's, or it has expired or was revoked.
            Unavailable: the database does not answer, and the key was not used lately.
        """
        digest = digest_of(key)
        own = [caller for known, caller in self._of_environment if hmac.compare_digest(known, digest)]
        if own:
            return own[0]
        if not api_keys.is_key(key):
            raise Unauthorized(UNKNOWN_KEY)
        found = await self._stored(key, digest)
        if found.revoked_at is not None:
            raise Unauthorized(REVOKED_KEY)
        if found.has_expired(self.store.now):
            raise Unauthorized(EXPIRED_KEY)
        return Caller(found.tenant, found.id, found.scopes)

    async def _stored(self, key: str, digest: bytes) -> ApiKey:
        known, now = self._known.get(digest), self.store.stopwatch()
        if known is not None and now < known.again_at:
            return known.key
        if known is not None:
            # Of many requests with the key, one looks it up again.
            self._known[digest] = replace(known, again_at=now + KNOWN_SECONDS)
        try:
            found = await self._looked_up(key)
        except Unavailable:
            if known is None or now - known.read_at > KNOWN_SECONDS_MAX:
                raise
            return known.key
        self._known.pop(digest, None)
        if found is None:
            raise Unauthorized(UNKNOWN_KEY)
        self._keep(digest, KnownKey(found, now, now + KNOWN_SECONDS))
        return found

    def _keep(self, digest: bytes, known: KnownKey) -> None:
        while len(self._known) >= KNOWN_MAX:
            del self._known[next(iter(self._known))]
        self._known[digest] = known
        if api_keys.is_use_due(known.key, self.store.now):
            self._used.add(known.key.id)

    async def _looked_up(self, key: str) -> ApiKey | None:
        with anyio.move_on_after(LOOK_UP_SECONDS):
            await self._look_ups.acquire()
            finding = self._started(partial(self._find, key))
            # A look-up that takes too long goes on, so that a silent database holds up a few threads and no more.
            finding.add_done_callback(lambda _: self._look_ups.release())
            return await asyncio.shield(finding)
        message = "a key could not be looked up in time"
        raise Unavailable(message)

    def _started(self, work: Callable[[], T]) -> asyncio.Task[T]:
        """The work in a thread, which goes on if nobody waits for it any more."""
        return self._tasks.started(anyio.to_thread.run_sync(work, abandon_on_cancel=True))

    def _find(self, key: str) -> ApiKey | None:
        with self.store.read() as tx:
            return api_keys.find(tx, key)
