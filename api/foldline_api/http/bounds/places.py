"""The places of requests: few large ones run at the same time, and no tenant takes all threads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from anyio import CapacityLimiter, sleep

from foldline.settings import Settings
from foldline_api.http.bounds.pauses import LONG_SECONDS, Pauses
from foldline_api.http.bounds.pieces import Pieces
from foldline_api.http.bounds.shares import Shares
from foldline_api.http.known_keys import LOCAL, Caller
from foldline_api.http.problems import TooManyLarge


class Many(NamedTuple):
    """The objects, and among them the messages, above which a request is large."""

    objects: int
    messages: int


# A message takes 30 bytes at least, and a tenth of a millisecond. A step of an agent has a few. Braces in texts count
# as objects too: a file of source code has hundreds. Names of fields do not: their quotation marks are escaped there.
MANY: Final = Many(500, 64)
# In a request to the gateway is a whole conversation, of which it knows most.
MANY_OF_CONVERSATION: Final = Many(2_000, 400)
# Each message has one of these fields: the calls and results of the Responses API have no role.
OF_MESSAGES: Final = (b'"role"', b'"call_id"')
# A caller that asks again at once gets no more refusals than this: to read and to refuse its bodies takes time too.
REFUSAL_SECONDS: Final = 0.5


@dataclass(slots=True)
class _Queue:
    """The requests of one tenant: how many have a place or wait, and the places that it may take.

    Those that may pause come one after the other.
    """

    places: CapacityLimiter
    pausing: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    size: int = 0


@dataclass(slots=True)
class FairPlaces:
    """A number of places. A tenant takes half of them at most, so that another's requests get one soon.

    Of a tenant's requests, at most `most_waiting` wait for one, if that is given. `pauses` says for how many seconds a
    tenant's next one that pauses has to wait before it wants a place; without it, none does.
    """

    number: int
    most_waiting: int | None = None
    pauses: Pauses | None = None
    _places: CapacityLimiter = field(init=False)
    _queues: dict[str, _Queue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._places = CapacityLimiter(self.number)

    @property
    def of_tenant(self) -> int:
        """The places that one tenant may take."""
        return max(1, self.number // 2)

    @asynccontextmanager
    async def one(self, tenant: str, *, pauses: bool = False) -> AsyncIterator[None]:
        """A place during the block, after the requests that wait already, but for those that pause.

        Raises:
            TooManyLarge: as many of the tenant's requests wait as may.
        """
        queue = self._queues.setdefault(tenant, _Queue(CapacityLimiter(self.of_tenant)))
        if self.most_waiting is not None and queue.size >= self.of_tenant + self.most_waiting:
            await sleep(REFUSAL_SECONDS)
            raise TooManyLarge(self.most_waiting)
        queue.size += 1
        try:
            async with self._pause(queue, tenant) if pauses else nullcontext(), queue.places, self._places:
                yield
        finally:
            queue.size -= 1
            if not queue.size:
                del self._queues[tenant]

    @asynccontextmanager
    async def _pause(self, queue: _Queue, tenant: str) -> AsyncIterator[None]:
        if self.pauses is None or not self.pauses.concern(tenant):
            yield
            return
        async with queue.pausing:
            await sleep(self.pauses.left(tenant))
            yield


class Places:
    """The places of a process, for large requests and for those that take a thread for a moment.

    `beyond_shares` is the one for small requests of tenants that take more than their share of its threads.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.shares = Shares()
        pauses = Pauses(self.shares.active)
        self.large = FairPlaces(settings.large_requests, settings.large_requests_waiting, pauses)
        self.beyond_shares = FairPlaces(1, pauses=Pauses(self.shares.active, LONG_SECONDS))
        self.small = FairPlaces(settings.threads)

    def is_large(self, pieces: Pieces, many: Many = MANY) -> bool:
        """Whether a request with this body is large: it has many bytes, or many objects such as messages."""
        if pieces.size > self._settings.large_request_bytes:
            return True
        body = pieces.whole()
        return body.count(b"{") > many.objects or sum(map(body.count, OF_MESSAGES)) > many.messages

    def for_small(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """A place for a small request. On a service without keys, where all callers are one tenant, it takes none."""
        return nullcontext() if caller.name == LOCAL else self.small.one(caller.tenant)
