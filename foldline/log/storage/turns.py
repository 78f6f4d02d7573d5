"""Writers of SQLite take turns: tenants one after the other, and a tenant's writers in the order in which they came.

Several in a row may share one commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock
from time import perf_counter
from typing import Final, TypeAlias

from sqlalchemy import Connection, Engine

from foldline.log.errors import Unavailable

# For so long others may join a transaction.
OPEN_SECONDS: Final = 0.005
# The tenant for whom the current thread writes; empty for the service's own work.
WRITING_FOR: Final[ContextVar[str]] = ContextVar("WRITING_FOR", default="")


# A turn among the writers of several processes, around one among those of this process.
OuterTurn: TypeAlias = Callable[[], AbstractContextManager[None]]


@dataclass(slots=True)
class _Shared:
    """A transaction of one or more writers, who wait until it `ended`; `error` is why it failed.

    Behind it, the process gives its `outer` turn back.
    """

    connection: Connection
    outer: ExitStack
    began: float = field(default_factory=perf_counter)
    has_writers: bool = False
    ended: Event = field(default_factory=Event)
    error: BaseException | None = None

    @property
    def may_grow(self) -> bool:
        """Whether another writer may still join."""
        return perf_counter() - self.began < OPEN_SECONDS

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost of it: SQLite gives a transaction up by itself, for example if the disk is full."""
        return bool(self.connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


@dataclass(slots=True)
class _Waiting:
    """A writer that waits for its turn; `joins` is the transaction that was handed to it, if any."""

    shares: bool
    tenant: str = field(default_factory=WRITING_FOR.get)
    has_turn: Event = field(default_factory=Event)
    joins: _Shared | None = None


class Turns:
    """The turns of one process's writers, because SQLite's own locking starves some of them.

    A commit waits for the disk, and nobody writes meanwhile. So a writer that shares hands its open transaction to the
    next in the queue if that one shares too, and waits for the commit with it. Nobody else sees the changes before.
    What a writer raises undoes its own changes alone: all but the first have a savepoint. A process that shares the
    file with another one waits for its `outer` turn as well.
    """

    def __init__(self, engine: Engine, outer: OuterTurn = nullcontext) -> None:
        self._engine = engine
        self._outer = outer
        self._lock = Lock()
        self._queue: deque[_Waiting] = deque()
        self._is_taken = False
        # How many turns there had been when a tenant last had one, since the queue was empty.
        self._turns = 0
        self._last_turns: dict[str, int] = {}

    @property
    def waiting(self) -> int:
        """The number of writers that wait for their turn."""
        return len(self._queue)

    @contextmanager
    def write(self, *, shares: bool) -> Iterator[Connection]:
        """A transaction that is committed after the block, or rolled back if the block raises.

        Raises:
            Unavailable: the transaction was shared, and another writer could not commit it.
        """
        shared = self._take(shares=shares)
        is_first, shared.has_writers = not shared.has_writers, True
        try:
            with nullcontext() if is_first else shared.connection.begin_nested():
                yield shared.connection
        except BaseException as error:
            if is_first or not shared.is_whole:
                shared.error = error
            self._leave(shared, shares=shares)
            raise
        if self._leave(shared, shares=shares):
            shared.ended.wait()
        if shared.error is not None:
            raise Unavailable(str(getattr(shared.error, "orig", shared.error))) from shared.error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A block in which nobody writes; it has no transaction."""
        self._wait(shares=False)
        try:
            with self._outer():
                yield
        finally:
            self._pass_on()

    def _take(self, *, shares: bool) -> _Shared:
        """Wait for a turn; the transaction to write in."""
        return self._wait(shares=shares) or self._begin()

    def _wait(self, *, shares: bool) -> _Shared | None:
        """Wait for a turn; the transaction that was handed on with it, if any."""
        waiting = _Waiting(shares)
        with self._lock:
            if self._is_taken:
                self._queue.append(waiting)
            else:
                self._is_taken = True
                self._give_turn(waiting)
        try:
            waiting.has_turn.wait()
        except BaseException:
            self._give_up(waiting)
            raise
        return waiting.joins

    def _give_up(self, waiting: _Waiting) -> None:
        """Let the others write without one that was interrupted while it waited."""
        with self._lock:
            has_turn = waiting.has_turn.is_set()
            if not has_turn:
                self._queue.remove(waiting)
        if waiting.joins is not None:
            self._end(waiting.joins)
        elif has_turn:
            self._pass_on()

    def _begin(self) -> _Shared:
        outer = ExitStack()
        try:
            outer.enter_context(self._outer())
            connection = self._engine.connect()
            try:
                connection.begin()
            except BaseException:
                connection.close()
                raise
        except BaseException:
            outer.close()
            self._pass_on()
            raise
        return _Shared(connection, outer)

    def _leave(self, shared: _Shared, *, shares: bool) -> bool:
        """Hand the transaction to the next writer, or end it; whether it still has to be committed."""
        if shares and shared.error is None and shared.may_grow:
            with self._lock:
                following = self._next()
                if following is not None and following.shares:
                    following.joins = shared
                    self._queue.remove(following)
                    self._give_turn(following)
                    return True
        self._end(shared)
        return False

    def _end(self, shared: _Shared) -> None:
        """Commit the transaction, or roll it back if it failed, and let the next writer begin."""
        try:
            if shared.error is None:
                shared.connection.commit()
            else:
                shared.connection.rollback()
        except BaseException as error:
            shared.error = error
            # SQLite keeps a transaction open whose commit failed.
            shared.connection.rollback()
            raise
        finally:
            shared.connection.close()
            shared.outer.close()
            self._pass_on()
            shared.ended.set()

    def _pass_on(self) -> None:
        """Give the turn to the next writer."""
        with self._lock:
            following = self._next()
            if following is not None:
                self._queue.remove(following)
                self._give_turn(following)
            else:
                self._is_taken = False
                self._last_turns.clear()

    def _next(self) -> _Waiting | None:
        """The first writer of the tenant that has had no turn for longest, so that nobody waits behind many of one."""
        return min(self._queue, key=lambda waiting: self._last_turns.get(waiting.tenant, 0), default=None)

    def _give_turn(self, waiting: _Waiting) -> None:
        self._turns += 1
        self._last_turns[waiting.tenant] = self._turns
        waiting.has_turn.set()
