"""Finds the entry up to which a conversation is known, by fingerprints, and keeps those of new entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, insert, select

from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import FINGERPRINT, SESSION

# A request mostly adds an answer and its results to the last one's history; then the first look-up finds it.
NEWEST: Final = 16
AT_ONCE: Final = 500


class KnownPart(NamedTuple):
    """The longest part of a conversation that is stored: up to the entry `seq` of a branch, its first `messages`."""

    session_pk: int
    session_id: str
    branch: int
    seq: int
    messages: int


_FOUND: Final = (
    select(FINGERPRINT.c.digest, FINGERPRINT.c.session_pk, SESSION.c.id, FINGERPRINT.c.branch, FINGERPRINT.c.seq)
    .join(SESSION, SESSION.c.pk == FINGERPRINT.c.session_pk)
    .where(
        FINGERPRINT.c.tenant == bindparam("tenant"),
        FINGERPRINT.c.digest.in_(bindparam("digests", expanding=True)),
        SESSION.c.deleted_at.is_(None),
    )
)


def known_part(tx: Transaction, tenant: str, fingerprints: Sequence[bytes | None]) -> KnownPart | None:
    """The longest known part of a conversation with these fingerprints; None if its first message is new."""
    length_of = {digest: at + 1 for at, digest in enumerate(fingerprints) if digest is not None}
    for digests in _newest_first([*length_of]):
        rows = tx.execute(_FOUND, {"tenant": tenant, "digests": digests}).all()
        if rows:
            longest = max(rows, key=lambda row: length_of[row.digest])
            return KnownPart(longest.session_pk, longest.id, longest.branch, longest.seq, length_of[longest.digest])
    return None


def _newest_first(digests: list[bytes]) -> Iterator[list[bytes]]:
    yield digests[-NEWEST:]
    for end in range(len(digests) - NEWEST, 0, -AT_ONCE):
        yield digests[max(0, end - AT_ONCE) : end]


def remember(
    tx: Transaction, tenant: str, session_pk: int, places: Sequence[tuple[int, int]], digests: Sequence[bytes | None]
) -> None:
    """Keep the fingerprints of new entries at these places, each a branch and a seq."""
    rows = [
        {"tenant": tenant, "digest": digest, "session_pk": session_pk, "branch": branch, "seq": seq}
        for (branch, seq), digest in zip(places, digests, strict=True)
        if digest is not None
    ]
    if rows:
        # Those of a session that was deleted stay until the sweep.
        tx.execute(_FORGET, {"tenant": tenant, "digests": [row["digest"] for row in rows]})
        tx.execute(insert(FINGERPRINT), rows)


_FORGET: Final = delete(FINGERPRINT).where(
    FINGERPRINT.c.tenant == bindparam("tenant"),
    FINGERPRINT.c.digest.in_(bindparam("digests", expanding=True)),
    FINGERPRINT.c.session_pk.in_(select(SESSION.c.pk).where(SESSION.c.deleted_at.is_not(None))),
)
