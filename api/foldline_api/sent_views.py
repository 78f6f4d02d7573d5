"""The views that were sent last, as JSON: the next view of a session is made of the last one and what is new."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

from cachetools import LRUCache

from foldline.engine.formats import FORMATS
from foldline.engine.formats.contract import Writer
from foldline.engine.wire import dumps
from foldline.log.storage import paths
from foldline.log.storage.entry_log import PARSED_SIZE
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.views import View, next_view, version_of
from foldline.log.views.following import ViewEnd
from foldline_api import serializers

# What a kept view takes beside its JSON: its writer, its end, the objects of its last message.
VIEW_BYTES: Final = 8_000
# What a writer remembers of one message.
REMEMBERED_BYTES: Final = 300
# A tenant, a session's id, and a format.
Asked: TypeAlias = tuple[str, str, str]
ASKED_AGAIN_MAX: Final = 4096


class ViewsOf(NamedTuple):
    """Whose views they are, and in which format. A session that was deleted is another one than a new one of its id.

    Views with the session's system text have that among their messages, if the format has its place there.
    """

    tenant: str
    session_id: str
    session_pk: int
    created_at: int
    format_name: str
    has_system: bool


@dataclass(frozen=True, slots=True)
class SentView:
    """A view as it was sent.

    `settled` are the messages that no later one changes, and `last` the others. `fields` are the other fields of the
    answer. Later views can continue from `end`, where `writer` stands.
    """

    version: int
    settled: tuple[bytes, ...]
    last: tuple[bytes, ...]
    fields: bytes
    writer: Writer
    end: ViewEnd | None
    settled_size: int

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        # The last message is kept as JSON and as the writer's.
        return VIEW_BYTES + self.settled_size + PARSED_SIZE * sum(map(len, self.last)) + len(self.fields)

    @property
    def body(self) -> bytes:
        """The answer."""
        return b"".join((b'{"messages":[', b",".join(self.messages), b"],", self.fields))

    @property
    def messages(self) -> tuple[bytes, ...]:
        """Its messages."""
        return self.settled + self.last


class SentViews:
    """The newest view of sessions, of at most so many bytes together; what was not asked for longest goes first."""

    def __init__(self, most_bytes: int) -> None:
        self._views: LRUCache[ViewsOf, SentView] = LRUCache(most_bytes, getsizeof=attrgetter("size"))
        self._asked_again: LRUCache[Asked, bool] = LRUCache(ASKED_AGAIN_MAX)
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
        asked = tenant, session_id, format_name
        known = self.known(tx, *asked) if self.was_asked_again(*asked) else None
        if known is not None:
            return known
        path = paths.open_head(tx, tenant, session_id)
        sent, is_known = self._at(tx, path, format_name, has_system=True)
        with self._lock:
            self._asked_again[asked] = is_known
        return sent

    def was_asked_again(self, tenant: str, session_id: str, format_name: str) -> bool:
        """Whether the last `read` of the session found the view as it was, so that the next one may too."""
        with self._lock:
            return self._asked_again.get((tenant, session_id, format_name), False)

    def known(self, tx: Transaction, tenant: str, session_id: str, format_name: str) -> SentView | None:
        """The view that `read` returns, if it was sent before; for one short read.

        Raises:
            NotFound: no such session.
        """
        now = version_of(tx, tenant, session_id)
        kept = self._kept(ViewsOf(tenant, session_id, now.session_pk, now.created_at, format_name, has_system=True))
        return kept if kept is not None and kept.version == now.version else None

    def messages_at(self, tx: Transaction, path: Path, format_name: str) -> tuple[bytes, ...]:
        """The messages of the view at a loaded head, each as JSON, for a request that has its own system text.

        Raises:
            CallsOpen, ViewDoesNotFit, ImagesDoNotFit: as `views.view`.
        """
        sent, _ = self._at(tx, path, format_name, has_system=False)
        return sent.messages

    def _at(self, tx: Transaction, path: Path, format_name: str, *, has_system: bool) -> tuple[SentView, bool]:
        """The view at a loaded head, and whether it is the one that was sent last."""
        views_of = _views_of(path.session, format_name, has_system=has_system)
        kept = self._kept(views_of)
        is_same = kept is not None and kept.version == path.session.version
        return (kept, True) if kept and is_same else (self._next(tx, path, views_of, kept), False)

    def _kept(self, views_of: ViewsOf) -> SentView | None:
        with self._lock:
            return self._views.get(views_of)

    def _next(self, tx: Transaction, path: Path, views_of: ViewsOf, kept: SentView | None) -> SentView:
        """The view at a loaded head, made of the one that is kept where that can be; it is kept from now on."""
        # This transaction may see an older state than the view that was kept meanwhile: then it does not begin with it.
        before = kept if kept is not None and kept.version < path.session.version else None
        found = next_view(tx, path, views_of.format_name, None if before is None else before.end)
        system = path.session.system if views_of.has_system else None
        sent = _sent(found, views_of.format_name, system, before if found.continues else None)
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


def _views_of(session: Session, format_name: str, *, has_system: bool) -> ViewsOf:
    return ViewsOf(session.tenant, session.id, session.pk, session.created_at, format_name, has_system)


def _sent(found: View, format_name: str, system: str | None, before: SentView | None) -> SentView:
    """The view as JSON; `before` is the one that it continues."""
    session = found.path.session
    writer = before.writer.copy() if before else FORMATS[format_name].writer(system, session.model)
    for message in found.messages:
        writer.add(message)
    new = tuple(map(_kept_json, writer.take()))
    ended = writer.copy()
    ended.finish()
    last = tuple(map(_kept_json, ended.messages))
    fields = _kept_json(serializers.view_fields(found, ended.lossy))[1:]
    settled = before.settled + new if before else new
    size = (before.settled_size if before else 0) + sum(REMEMBERED_BYTES + len(piece) for piece in new)
    return SentView(session.version, settled, last, fields, writer, found.end, size)


def _kept_json(value: Any) -> bytes:
    """The value as JSON, in no more memory than it has bytes: orjson's own keep the eight kilobytes they began with."""
    return bytes(memoryview(dumps(value)))
