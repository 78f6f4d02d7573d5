"""The rows of recognition: what a request costs in a long conversation and in a short one, in process on SQLite.

Reading a request is linear: its body is parsed, and hashed where it is known. All that follows should cost what is new.
The times are of the processor: a commit waits for the disk, whatever it has. A body of 24 MB leaves nothing else in the
processor's caches, and then any work takes nearly twice as long. That is of its reading too, so it is read before both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import thread_time
from typing import Any, Final

from foldline_api.sent_views import SentViews

from benchmarks.gateway.conversations import MODEL, body
from benchmarks.harness import Row
from benchmarks.transcripts import transcript
from foldline import migrations
from foldline.engine.formats import FORMATS
from foldline.engine.gateway.dialects import DIALECTS, understood
from foldline.engine.wire import loads_bounded
from foldline.log.gateway.beginnings import Beginnings, Conversation, read
from foldline.log.gateway.turns import Defaults, seed_of, turn_of
from foldline.log.storage.store import Store
from foldline.settings import Settings

LONG, SHORT = 10_000, 100
TENANT: Final = "bench"
ANTHROPIC: Final = next(dialect for dialect in DIALECTS if dialect.format == "anthropic")
# Nothing is compacted in it.
DEFAULTS: Final = Defaults({}, 100_000_000)
# The turns of a round.
TURNS: Final = 8


def rows(folder: Path) -> Iterator[Row]:
    """Both rows, over one database."""
    store = Store(f"sqlite:///{folder}/recognition.db")
    migrations.upgrade(store.engine)
    long, seeds = _Conversation(store, LONG, 0), count(1)
    names = f"in a conversation of {LONG:,} messages", f"in one of {SHORT}"
    yield Row(
        "CPU of the gateway's work on a request that is read",
        *names,
        time_ours=lambda: long.work_seconds(long),
        time_theirs=lambda: _Conversation(store, SHORT, next(seeds)).work_seconds(long),
        at_most=1.2,
    )
    yield Row(
        "CPU of reading a request: its body is parsed and fingerprinted",
        *names,
        time_ours=long.reading_seconds,
        time_theirs=_Conversation(store, SHORT, next(seeds)).reading_seconds,
    )
    store.close()


class _Conversation:
    """A conversation in a session, which grows by a call and its result with each request."""

    def __init__(self, store: Store, messages: int, seed: int) -> None:
        self._store = store
        self._beginnings = Beginnings(Settings().cache_bytes // 8)
        self._views = SentViews(Settings().cache_bytes // 8)
        said = FORMATS["openai"].parse(transcript(messages, seed))
        self._wires = list(FORMATS["anthropic"].render(said, None, MODEL).messages)
        self._next_work_seconds(self)

    def work_seconds(self, before: _Conversation) -> float:
        """The median seconds of the gateway's work on one of some requests, after it and one of `before` are read."""
        return statistics.median(self._next_work_seconds(before) for _ in range(TURNS))

    def reading_seconds(self) -> float:
        """The median seconds in which one of some requests is read, each after the one before it."""
        return statistics.median(self._next_reading_seconds() for _ in range(TURNS))

    def _next_reading_seconds(self) -> float:
        self._wires += _turn(len(self._wires))
        raw = body(self._wires)
        return _cpu_seconds(lambda: self._read(raw))

    def read_again(self) -> None:
        """Read the newest request once more."""
        self._read(body(self._wires))

    def _next_work_seconds(self, before: _Conversation) -> float:
        self._wires += _turn(len(self._wires))
        found = self._read(body(self._wires))
        before.read_again()
        return _cpu_seconds(lambda: turn_of(self._store, TENANT, found, DEFAULTS, self._views.messages_at))

    def _read(self, raw: bytes) -> Conversation:
        asked = understood(ANTHROPIC, loads_bounded(raw))
        return read(self._beginnings, TENANT, asked, seed_of(asked, ""))


def _cpu_seconds(work: Callable[[], object]) -> float:
    """The seconds of the processor that one run of `work` takes in this thread."""
    start = thread_time()
    work()
    return thread_time() - start


def _turn(number: int) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"next_{number}", "name": "bash", "input": {"command": f"make part_{number}"}}
    result = {"type": "tool_result", "tool_use_id": f"next_{number}", "content": f"part {number} is made\n" * 40}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
