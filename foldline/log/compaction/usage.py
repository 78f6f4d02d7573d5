"""Learning the session's multiplier from the usage a caller reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select

from foldline.log.errors import UnknownVersion
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

# In thousandths.
MULTIPLIER_MIN, MULTIPLIER_MAX = 1000, 2000
# The weight of an older view's usage: one call says little, so most of the multiplier stays.
WEIGHT: Final = 0.25


# Providers whose `input` leaves out what their cache held; with the others it is in it.
INPUT_WITHOUT_CACHE: Final = frozenset({"anthropic", "bedrock"})

_KEPT_AT_VERSION: Final = (
    select(ENTRY.c.kept)
    .where(ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"))
    .where(ENTRY.c.seq > bindparam("after"), ENTRY.c.version == bindparam("version"))
    .order_by(ENTRY.c.seq.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage that a provider reported for the view of `version`, in its own terms; `model` None is the session's."""

    version: int
    input: int
    model: str | None = None
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def prompt_tokens(self, session_model: str) -> int:
        """All tokens of the prompt, those read from or written to a cache included."""
        provider = (self.model or session_model).partition("/")[0]
        return self.input + (self.cache_read + self.cache_write if provider in INPUT_WITHOUT_CACHE else 0)


def learn(tx: Transaction, path: Path, usage: Usage) -> None:
    """Move the session's multiplier towards reported / counted tokens, within 1.0 to 2.0.

    Usage of the current version sets it, usage of an older one moves it by `WEIGHT`. Usage of a version that is not on
    this path is ignored.

    Raises:
        UnknownVersion: the session has not reached that version.
    """
    if usage.version > path.session.version:
        raise UnknownVersion(usage.version, path.session.version)
    is_current = usage.version == path.session.version
    history = path.kept if is_current else _history_at(tx, path, usage.version)
    counted = None if history is None else history + path.session.overhead_tokens
    prompt_tokens = usage.prompt_tokens(path.session.model)
    if not counted or prompt_tokens <= 0:
        return
    reported = prompt_tokens * 1000 / counted
    old = path.session.multiplier
    path.session.multiplier = bounded(reported if is_current else old + (reported - old) * WEIGHT)


def bounded(multiplier: float) -> int:
    """A multiplier within 1.0 to 2.0, in thousandths."""
    return max(MULTIPLIER_MIN, min(MULTIPLIER_MAX, round(multiplier)))


def _history_at(tx: Transaction, path: Path, version: int) -> int | None:
    place = {"pk": path.session.pk, "branch": path.branch, "after": path.leaf_seq - 1000, "version": version}
    history: int | None = tx.execute(_KEPT_AT_VERSION, place).scalar()
    return history
