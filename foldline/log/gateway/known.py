"""Finds the entry up to which a conversation is known, by fingerprints, and keeps those of new entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from foldline.log.storage.paths import tail_of
from foldline.log.storage.rows import SessionVersion
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY, FINGERPRINT, SESSION

# A request mostly adds an answer and its results to the last one's history; then the first look-up finds it.
NEWEST: Final = 16
AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class KnownPart:
    """The longest part of a conversation that is stored: up to the entry `seq` of a branch, its first `messages`.

    As long as the session has the version `at`, no more of the conversation is stored.
    """

    session_id: str
    at: SessionVersion
    branch: int
    seq: int
    messages: int


_ENDS: Final = (
    select(
        FINGERPRINT.c.digest,
        FINGERPRINT.c.session_pk,
        SESSION.c.id,
        SESSION.c.created_at,
        FINGERPRINT.c.branch,
        FINGERPRINT.c.seq,
        SESSION.c.version,
    )
    .join(SESSION, SESSION.c.pk == FINGERPRINT.c.session_pk)
    .where(FINGERPRINT.c.tenant == bindparam("tenant"), SESSION.c.deleted_at.is_(None))
)
_FOUND: Final = _ENDS.where(FINGERPRINT.c.digest.in_(bindparam("digests", expanding=True)))
# A list of fixed length is compiled once, an expanding one at each execution.
_NAMES: Final = tuple(f"digest_{at}" for at in range(NEWEST))
_FOUND_OF_NEWEST: Final = _ENDS.where(FINGERPRINT.c.digest.in_([bindparam(name) for name in _NAMES]))


def known_part(tx: Transaction, tenant: str, fingerprints: Sequence[bytes | None]) -> KnownPart | None:
    """The longest known part of a conversation with these fingerprints; None if its first message is new."""
    for first, last in _newest_first(len(fingerprints)):
        length_of = {
            digest: length for length, digest in enumerate(fingerprints[first:last], first + 1) if digest is not None
        }
        rows = _rows(tx, tenant, [*length_of]) if length_of else []
        if rows:
            longest = max(rows, key=lambda row: length_of[row.digest])
            at = SessionVersion(longest.session_pk, longest.created_at, longest.version)
            return KnownPart(longest.id, at, longest.branch, longest.seq, length_of[longest.digest])
    return None


def _rows(tx: Transaction, tenant: str, digests: list[bytes]) -> list[Any]:
    if len(digests) > NEWEST:
        return list(tx.execute(_FOUND, {"tenant": tenant, "digests": digests}))
    padded = [*digests, *digests[:1] * (NEWEST - len(digests))]
    return list(tx.execute(_FOUND_OF_NEWEST, {"tenant": tenant, **dict(zip(_NAMES, padded, strict=True))}))


def _newest_first(number: int) -> Iterator[tuple[int, int]]:
    """The parts in which so many fingerprints are looked up: the first of each, and what follows its last."""
    end = max(0, number - NEWEST)
    yield end, number
    while end:
        start = max(0, end - AT_ONCE)
        yield start, end
        end = start


def waiting_calls(tx: Transaction, known: KnownPart) -> set[str]:
    """The ids of the calls that wait for results at the end of a known part, as they are stored."""
    row = tx.execute(_TAIL, {"pk": known.at.session_pk, "branch": known.branch, "seq": known.seq}).first()
    return set() if row is None else {call.id for call in tail_of(row.tail_unit, row.open_calls).open_calls}


_TAIL: Final = select(ENTRY.c.tail_unit, ENTRY.c.open_calls).where(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"), ENTRY.c.seq == bindparam("seq")
)


def remember(
    tx: Transaction, tenant: str, session_pk: int, places: Sequence[tuple[int, int]], digests: Sequence[bytes | None]
) -> None:
    """Keep the fingerprints of new entries at these places, each a branch and a seq.

    Raises:
        IntegrityError: one is kept already: another request was first, or a session that was deleted has it. PostgreSQL
        says so at a later statement or at the commit.
    """
    rows = [
        {"tenant": tenant, "digest": digest, "session_pk": session_pk, "branch": branch, "seq": seq}
        for (branch, seq), digest in zip(places, digests, strict=True)
        if digest is not None
    ]
    if rows:
        tx.change(_KEEP, *rows)


def forget_deleted(tx: Transaction, tenant: str, digests: Sequence[bytes | None]) -> None:
    """Drop these fingerprints where a session has them that was deleted; else they stay until the sweep."""
    tx.execute(_FORGET, {"tenant": tenant, "digests": [digest for digest in digests if digest is not None]})


def move(tx: Transaction, tenant: str, digest: bytes, place: tuple[int, int]) -> None:
    """Have what was said up to here end at another entry."""
    branch, seq = place
    tx.change(_MOVE, {"of": tenant, "known": digest, "to_branch": branch, "to_seq": seq})


_KEEP: Final = insert(FINGERPRINT)
_MOVE: Final = (
    update(FINGERPRINT)
    .where(FINGERPRINT.c.tenant == bindparam("of"), FINGERPRINT.c.digest == bindparam("known"))
    .values(branch=bindparam("to_branch"), seq=bindparam("to_seq"))
)
_FORGET: Final = delete(FINGERPRINT).where(
    FINGERPRINT.c.tenant == bindparam("tenant"),
    FINGERPRINT.c.digest.in_(bindparam("digests", expanding=True)),
    FINGERPRINT.c.session_pk.in_(select(SESSION.c.pk).where(SESSION.c.deleted_at.is_not(None))),
)
