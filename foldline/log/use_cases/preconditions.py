"""The preconditions of a change: the version that `If-Match` requires, the newest message that the caller knows, the
entry that the request names, and the summarizers that a policy names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.engine.errors import InvalidPolicy
from foldline.engine.policies.policy import PROVIDER, SERVICE, Policy
from foldline.log.errors import NotFound, UnknownEntry, UnknownParent
from foldline.log.storage import paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction


def open_to_change(tx: Transaction, tenant: str, session_id: str, *, parent: str | None, if_match: int | None) -> Path:
    """The head's path, locked: this transaction is its only writer.

    Raises:
        NotFound: no such session.
        StaleVersion: `if_match` is given and is not its version.
        UnknownParent: `parent` is given and is neither the newest message on the path nor a later entry.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    if parent is not None:
        _check_parent(tx, path, parent)
    return path


@contextmanager
def entry_of_request() -> Iterator[None]:
    """A block that looks for the entry which a request names in its body. That its session is there is known.

    Raises:
        UnknownEntry: the entry is not there.
    """
    try:
        yield
    except NotFound as error:
        raise UnknownEntry(error.what, error.name) from error


def check_summarizers(tx: Transaction, policy: Policy) -> None:
    """Check that the service has the summarizers that a policy names.

    Raises:
        InvalidPolicy: it lacks one.
    """
    missing = [name for name in policy.writers if name not in tx.limits.summarizers]
    if missing:
        available = ", ".join(sorted(tx.limits.summarizers))
        alone = f"{SERVICE} and {PROVIDER} stand alone"
        raise InvalidPolicy(
            "policy.summarizer", f"there is no summarizer {missing[0]!r}; available: {available}; {alone}"
        )


def _check_parent(tx: Transaction, path: Path, parent: str) -> None:
    parts = segments.segments(tx, path)
    newest = path.last_message_seq
    newest_id = segments.id_at(parts, newest) if newest else None
    branch, seq = _parsed(parent, newest_id)
    if not segments.holds(parts, branch, seq) or seq < newest:
        raise UnknownParent(parent, newest_id)


def _parsed(parent: str, newest_id: str | None) -> tuple[int, int]:
    try:
        return segments.parse_entry_id(parent)
    except NotFound as error:
        raise UnknownParent(parent, newest_id) from error
