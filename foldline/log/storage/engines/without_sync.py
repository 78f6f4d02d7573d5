"""A commit that does not wait for the disk."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Boolean
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from foldline.log.storage.engines.addresses import SQLITE


class _WithoutSync(FunctionElement[bool]):
    name = "without_sync"
    type = Boolean()
    inherit_cache = True


@compiles(_WithoutSync, SQLITE)
def _always_synced(_element: _WithoutSync, _compiler: Any, **_: Any) -> str:
    return "true"


@compiles(_WithoutSync, "postgresql")
def _not_synced(_element: _WithoutSync, _compiler: Any, **_: Any) -> str:
    return "set_config('synchronous_commit', 'off', true) = 'off'"


# What a statement returns that changes rows, if its transaction is to commit without waiting for the disk: if the
# server crashes, this transaction alone may be lost. A statement of its own would be a round trip. No effect on SQLite.
WITHOUT_SYNC: Final = _WithoutSync()
