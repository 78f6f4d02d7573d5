"""The bytes that requests and answers take of the memory, of each tenant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from foldline_api.http.bounds.patience import READING
from foldline_api.http.problems import BodiesFull, problem

# What every request and answer may have. The server reads so much of a body before anyone asks for it, and lets so much
# of an answer wait for its client before it waits itself.
SMALL_BYTES: Final = 64 * 1024


@dataclass(slots=True)
class HeldBytes:
    """The bytes in memory, for each tenant; one tenant takes half of `most` at most."""

    most: int
    by_tenant: Counter[str] = field(default_factory=Counter)

    def has_room(self, tenant: str, size: int) -> bool:
        """Whether so many bytes more of a tenant are within the limits."""
        return self.by_tenant[tenant] + size <= self.most // 2 and self.by_tenant.total() + size <= self.most

    def give_back(self, tenant: str, size: int) -> None:
        """Count so many bytes less."""
        self.by_tenant[tenant] -= size
        if not self.by_tenant[tenant]:
            del self.by_tenant[tenant]


@dataclass(slots=True)
class HeldAnswer:
    """One answer, which counts from its beginning until its client has read most of it, if it says how long it is.

    A tenant's first one has room in any case, and so has one that may follow a change. `is_refused`: there was none for
    it, and a 503 was sent instead.
    """

    scope: Scope
    receive: Receive
    to_client: Send
    held: HeldBytes
    tenant: str
    counted: int = 0
    is_refused: bool = False

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; of a large one, the last only returns once the client has read most of it."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self.counted and not message.get("more_body", False):
            # The server waits before it takes another part.
            await self.to_client({**message, "more_body": True})
            await self.to_client({"type": "http.response.body"})
        elif not self.is_refused:
            await self.to_client(message)

    async def _begin(self, message: Message) -> None:
        size = int(Headers(raw=message["headers"]).get("content-length", 0))
        if size <= SMALL_BYTES:
            await self.to_client(message)
        elif not self._has_room(size):
            self.is_refused = True
            await problem(BodiesFull(self.held.most))(self.scope, self.receive, self.to_client)
        else:
            self.held.by_tenant[self.tenant] += size
            self.counted = size
            await self.to_client(message)

    def _has_room(self, size: int) -> bool:
        is_first = not self.held.by_tenant[self.tenant]
        return is_first or self.scope["method"] not in READING or self.held.has_room(self.tenant, size)

    def release(self) -> None:
        """Hold nothing of it any more."""
        if self.counted:
            self.held.give_back(self.tenant, self.counted)
            self.counted = 0
