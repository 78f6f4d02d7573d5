"""Connections to PostgreSQL that need fewer round trips: statements without a result go with those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus


class PipelinedConnection(Connection[Any]):
    """A connection that sends several statements in one pipeline where only the result of the last one is needed.

    So the BEGIN goes with the first statement, and what is to be sent later goes with the next one or the commit, which
    raises what it raises. Statements are executed in the order in which they were given. What is not sent through
    `execute` or `executemany`, such as COPY, does not wait for those before it.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.cursor_factory = _PipelinedCursor
        self._unsent: list[tuple[str, Sequence[Any]]] = []

    def send_later(self, query: str, rows: Sequence[Any]) -> None:
        """Execute a statement once with each of these rows of values, before any other and before the commit."""
        self._unsent.append((query, rows))

    @property
    def sends_alone(self) -> bool:
        """Whether nothing has to be sent before the next statement."""
        has_begun = self.autocommit or self.pgconn.transaction_status != TransactionStatus.IDLE
        return has_begun and not self._unsent

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
        if not self._unsent:
            super().commit()
            return
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
        if self.connection.sends_alone:
            super().execute(*arguments, **named)
        else:
            with self.connection.pipeline():
                self.connection.send_unsent()
                super().execute(*arguments, **named)
        return self

    def executemany(self, query: Any, params_seq: Iterable[Any], *, returning: bool = False) -> None:
        with self.connection.pipeline():
            self.connection.send_unsent()
            super().executemany(query, params_seq, returning=returning)
