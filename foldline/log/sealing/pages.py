"""Reads tables in pages: rows are as large as what was said in them, so each page has a bounded number of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Table, and_, func, literal, select, true, tuple_

from foldline.log.sealing.sealed_column import Sealed
from foldline.log.storage.store import Store

# A page has so many rows and bytes at the most, or one row that is larger.
ROWS_AT_ONCE: Final = 100
PAGE_BYTES: Final = 1 << 20
# An answer with a list has so many bytes of what was said at the most, or one item that is larger.
LIST_BYTES: Final = 8 << 20


def sealed_columns(table: Table) -> list[Column[Any]]:
    """The columns of a table with what was said."""
    return [column for column in table.columns if isinstance(column.type, Sealed)]


def pages(
    store: Store,
    table: Table,
    columns: Sequence[ColumnElement[Any]],
    condition: ColumnElement[bool] | None = None,
    *,
    newest_first: bool = False,
) -> Iterator[Sequence[Any]]:
    """These columns of the rows of a table, in the order of its primary key; a short transaction reads each page."""
    key = [*table.primary_key.columns]
    order = [column.desc() for column in key] if newest_first else key
    chosen = true() if condition is None else condition
    left, has_more = chosen, True
    while has_more:
        with store.read() as tx:
            # The database is asked how large the rows are before this process reads them.
            sized = tx.execute(select(*key, _size(table)).where(left).order_by(*order).limit(ROWS_AT_ONCE)).all()
            if not sized:
                return
            number = fitting((row[-1] for row in sized), PAGE_BYTES)
            rows = tx.execute(select(*columns).where(left).order_by(*order).limit(number)).all()
        yield rows
        has_more = number < len(sized) or len(sized) == ROWS_AT_ONCE
        last = tuple(sized[number - 1][:-1])
        left = and_(chosen, tuple_(*key) < last if newest_first else tuple_(*key) > last)


def fitting(sizes: Iterable[int], most_bytes: int) -> int:
    """How many of the first of these sizes are together no larger; at least one."""
    return max(1, sum(total <= most_bytes for total in accumulate(sizes)))


def _size(table: Table) -> ColumnElement[int]:
    lengths = [func.coalesce(func.length(column), 0) for column in sealed_columns(table)]
    return sum(lengths, literal(0))
