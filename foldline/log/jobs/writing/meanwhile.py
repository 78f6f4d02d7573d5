"""Reads what was said on a branch while its summary was written: messages since the claim, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import bindparam, select

from foldline.engine.messages import Message
from foldline.engine.summaries.meanwhile import used_texts
from foldline.log.jobs.endings import UNREADABLE
from foldline.log.jobs.leases import Claim
from foldline.log.storage import entry_log
from foldline.log.storage.store import Store
from foldline.log.storage.tables import ENTRY, one_of

MOST_ENTRIES: Final = 200
MOST_TOKENS: Final = 100_000
# A longer message quotes a file or a log.
MOST_ENTRY_TOKENS: Final = 8_000

_SAID: Final = (
    select(ENTRY.c.format, ENTRY.c.body, ENTRY.c.is_joined, ENTRY.c.facts, ENTRY.c.tokens)
    .where(ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"))
    .where(ENTRY.c.seq > bindparam("leaf"), ENTRY.c.kind == entry_log.MESSAGE)
    .where(one_of(ENTRY.c.role, ("user", "assistant")), ENTRY.c.tokens <= MOST_ENTRY_TOKENS)
    .order_by(ENTRY.c.seq)
    .limit(MOST_ENTRIES)
)


def said_meanwhile(store: Store, claim: Claim) -> list[str]:
    """What users and the agent said since the claim, oldest first: at most `MOST_ENTRIES` and `MOST_TOKENS`."""
    at = {"pk": claim.session_pk, "branch": claim.branch, "leaf": claim.leaf_seq}
    with store.read() as tx:
        rows = list(tx.execute(_SAID, at))
    until = accumulate(row.tokens for row in rows)
    return used_texts(_readable([row for row, tokens in zip(rows, until, strict=True) if tokens <= MOST_TOKENS]))


def _readable(rows: list[Any]) -> Iterator[Message]:
    for row in rows:
        # A newer version's message shows this one nothing.
        with suppress(*UNREADABLE):
            yield entry_log.message_in(row)
