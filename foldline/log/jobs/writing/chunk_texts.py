"""The texts of chunks, kept until their summary is published: another worker repeats only what was unfinished."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from foldline.engine.wire import dumps, loads
from foldline.log.jobs.leases import Claim
from foldline.log.storage import paths
from foldline.log.storage.engines.without_sync import WITHOUT_SYNC
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import CHUNK_TEXT

_FIND: Final = select(CHUNK_TEXT.c.text).where(
    CHUNK_TEXT.c.session_pk == bindparam("pk"), CHUNK_TEXT.c.key == bindparam("chunk")
)
# If this commit is lost in a crash, the chunk is written again.
_KEEP: Final = insert(CHUNK_TEXT).returning(WITHOUT_SYNC)
_REMOVE: Final = delete(CHUNK_TEXT).where(CHUNK_TEXT.c.session_pk == bindparam("pk"))


class KeptChunkTexts:
    """The chunk texts of one session, for the job that was claimed."""

    def __init__(self, store: Store, claim: Claim) -> None:
        self._store = store
        self._session_pk = claim.session_pk

    def find(self, key: str) -> str | None:
        """The text that was kept for a chunk; None if there is none."""
        with self._store.read() as tx:
            found = tx.execute(_FIND, {"pk": self._session_pk, "chunk": key}).scalar()
        return None if found is None else str(loads(found))

    def keep(self, key: str, text: str) -> None:
        """Keep the text of a chunk, unless its session was deleted. A second one of the same chunk changes nothing."""
        try:
            with self._store.write() as tx:
                # The rows of a session that was deleted meanwhile may be gone already.
                if paths.lives(tx, self._session_pk):
                    row = {"session_pk": self._session_pk, "key": key, "created_at": tx.now, "text": dumps(text)}
                    tx.execute(_KEEP, row)
        except IntegrityError:
            return


def remove(tx: Transaction, session_pk: int) -> None:
    """Remove the texts of a session's chunks: their summary is published."""
    tx.change(_REMOVE, {"pk": session_pk})
