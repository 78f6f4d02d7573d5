"""The views that were sent last, as JSON: the next view of a session is made of the last one and what is new."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import Final, NamedTuple

from cachetools import LRUCache

from foldline.engine.formats import FORMATS
from foldline.engine.formats.contract import Writer
from foldline.engine.wire import dumps
from foldline.log.storage.entry_log import PARSED_SIZE
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.views import View, next_view, version_of
from foldline.log.views.following import ViewEnd
from foldline_api import serializers

# What a kept view takes beside its JSON: its writer, its end, the objects of its last message.
VIEW_BYTES: Final = 8_000
# What a writer remembers of one message.
REMEMBERED_BYTES: Final = 300


class ViewsOf(NamedTuple):
    """Whose views they are, and in which format. A session that was deleted is another one than a new one of its id."""

    tenant: str
    session_id: str
    session_pk: int
    created_at: int
    format_name: str


@dataclass(frozen=True, slots=True)
class SentView:
    """A view as it was sent.

    `settled` are the messages that no later one changes, and `last` the others, each followed by a comma but the very
    last. `fields` are the other fields of the answer. Later views can continue from `end`, where `writer` stands.
    """

    version: int
    settled: tuple[bytes, ...]
    last: bytes
    fields: bytes
    writer: Writer
    end: ViewEnd | None
    settled_size: int

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        # The last message is kept as JSON and as the writer's.
        return VIEW_BYTES + self.settled_size + PARSED_SIZE * len(self.last) + len(self.fields)

    @property
    def body(self) -> bytes:
        """The answer."""
        return b"".join((b'{"messages":[', *self.settled, self.last, b"],", self.fields))


class SentViews:
    """The newest view of sessions, of at most so many bytes together; what was not asked for longest goes first."""

    def __init__(self, most_bytes: int) -> None:
        self._views: LRUCache[ViewsOf, SentView] = LRUCache(most_bytes, getsizeof=attrgetter("size"))
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The bytes of what is kept now."""
        return int(self._views.currsize)

    def read(self, tx: Transaction, tenant: str, session_id: str, format_name: str) -> SentView:
        """The view at the head for the session's own model.

        Raises:
            NotFound, CallsOpen, ViewDoesNotFit, ImagesDoNotFit: as `views.view`.
        """
        now = version_of(tx, tenant, session_id)
        views_of = ViewsOf(tenant, session_id, now.session_pk, now.created_at, format_name)
        with self._lock:
            kept = self._views.get(views_of)
        if kept is not None and kept.version == now.version:
            return kept
        # This transaction may see an older state than the view that was kept meanwhile: then it does not begin with it.
        before = kept if kept is not None and kept.version < now.version else None
        found = next_view(tx, tenant, session_id, format_name, None if before is None else before.end)
        sent = _sent(found, format_name, before if found.continues else None)
        self._keep(views_of, sent)
        return sent

    def _keep(self, views_of: ViewsOf, sent: SentView) -> None:
        with self._lock:
            kept = self._views.get(views_of)
            if kept is not None and kept.version > sent.version:
                # A slower request was given an older view.
                return
            self._views.pop(views_of, None)
            if sent.size <= self._views.maxsize:
                self._views[views_of] = sent


def _sent(found: View, format_name: str, before: SentView | None) -> SentView:
    """The view as JSON; `before` is the one that it continues."""
    session = found.path.session
    writer = before.writer.copy() if before else FORMATS[format_name].writer(session.system, session.model)
    for message in found.messages:
        writer.add(message)
    new = [dumps(wire) + b"," for wire in writer.take()]
    ended = writer.copy()
    ended.finish()
    last = b",".join(map(dumps, ended.messages))
    fields = dumps(serializers.view_fields(found, ended.lossy))[1:]
    settled = (*(before.settled if before else ()), *([b"".join(new)] if new else ()))
    size = (before.settled_size if before else 0) + sum(REMEMBERED_BYTES + len(piece) for piece in new)
    return SentView(session.version, settled, last, fields, writer, found.end, size)
