"""Connections to PostgreSQL that need fewer round trips: statements without a result go with those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection, Cursor


class PipelinedConnection(Connection[Any]):
    """A connection that sends several statements in one pipeline where only the result of the last one is needed.

    What is to be sent later goes with the next statement or the commit, which raises what it raises, and is executed
    before it. COPY and cursors of the server do not know of it. The driver must not begin transactions by itself, as it
    waits for each of its own BEGIN.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.cursor_factory = _PipelinedCursor
        self._unsent: list[tuple[str, Sequence[Any]]] = []

    def send_later(self, query: str, *rows: Any) -> None:
        """Execute a statement before any other and before the commit, once with each of these rows of values if any."""
        self._unsent.append((query, rows or ((),)))

    @property
    def has_unsent(self) -> bool:
        """Whether something is to be sent with the next statement."""
        return bool(self._unsent)

    @property
    def _keeps_its_server(self) -> bool:
        """Whether no pooler gives each transaction another connection of the server: then nothing could be prepared.

        Such a pooler would give it one for the message with which a pipeline may end, behind the COMMIT, and keep it.
        """
        return self.prepare_threshold is not None

    def send_unsent(self) -> None:
        """Send what was to be sent later; in a pipeline, nothing waits for its results here."""
        unsent, self._unsent = self._unsent, []
        for query, rows in unsent:
            cursor = Cursor(self)
            if len(rows) == 1:
                cursor.execute(query, rows[0])
            else:
                cursor.executemany(query, rows)

    def commit(self) -> None:
        """Commit, with what was to be sent later."""
        if self.has_unsent and self._keeps_its_server:
            with self.pipeline():
                self.send_unsent()
                # The driver's own commit would wait twice.
                Cursor(self).execute("COMMIT", prepare=False)
            return
        if self.has_unsent:
            with self.pipeline():
                self.send_unsent()
        super().commit()

    def rollback(self) -> None:
        """Roll back, and forget what was to be sent later."""
        self._unsent.clear()
        super().rollback()


class _PipelinedCursor(Cursor[Any]):
    connection: PipelinedConnection

    def execute(self, *arguments: Any, **named: Any) -> _PipelinedCursor:
        if self.connection.has_unsent:
            with self.connection.pipeline():
                self.connection.send_unsent()
                super().execute(*arguments, **named)
        else:
            super().execute(*arguments, **named)
        return self

    def executemany(self, query: Any, params_seq: Iterable[Any], *, returning: bool = False) -> None:
        with self.connection.pipeline():
            self.connection.send_unsent()
            super().executemany(query, params_seq, returning=returning)
