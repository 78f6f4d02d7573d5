"""Adds, lists and removes pins: texts that are in every view of a session, verbatim, on every branch."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from foldline.engine.models.budget import PINS_SHARE, check_fixed_parts
from foldline.engine.tokens.counter import count_text, scaled
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import pins_tokens
from foldline.log.compaction import trigger
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.errors import NotFound, PinTooLarge
from foldline.log.storage import paths
from foldline.log.storage.fixed_parts import pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import PIN
from foldline.log.use_cases.entries import text_at
from foldline.log.use_cases.preconditions import entry_of_request, open_to_change


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned text."""

    id: str
    number: int
    text: str
    created_at: int


def pins(tx: Transaction, tenant: str, session_id: str, after_number: int = 0, limit: int | None = None) -> list[Pin]:
    """Up to `limit` pins of a session after the one with this number, oldest first.

    Raises:
        NotFound: no such session.
    """
    path = paths.open_head(tx, tenant, session_id)
    columns = (PIN.c.id, PIN.c.number, PIN.c.text, PIN.c.created_at)
    chosen = PIN.c.session_pk == path.session.pk, PIN.c.number > after_number
    rows = tx.execute(select(*columns).where(*chosen).order_by(PIN.c.number).limit(limit))
    return [Pin(pin_id, number, loads(text), created_at) for pin_id, number, text, created_at in rows]


def add(
    tx: Transaction,
    tenant: str,
    session_id: str,
    *,
    text: str | None = None,
    entry_id: str | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> tuple[Pin, Path, TriggerResult]:
    """Pin a text, or a copy of an entry's text.

    Raises:
        NotFound: no such session.
        UnknownEntry: no such entry in it, or the entry has no text.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        PinTooLarge: all pins together would take more than a tenth of the budget.
        FixedPartsDoNotFit: the fixed parts would leave no room for a history.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    if text is None:
        with entry_of_request():
            text = text_at(tx, path.session, entry_id or "")
    _recount(tx, path, [*pins_of(tx, path.session), text])
    pin_id = tx.new_id("pin")
    row = {
        "id": pin_id,
        "session_pk": path.session.pk,
        "tenant": tenant,
        "tokens": count_text(text),
        "created_at": tx.now,
        "text": dumps(text),
    }
    number: int = tx.execute(insert(PIN).values(row)).inserted_primary_key[0]
    step = trigger.run_trigger(tx, path)
    paths.save(tx, path)
    return Pin(pin_id, number, text, tx.now), path, step


def _recount(tx: Transaction, path: Path, texts: list[str]) -> None:
    session = path.session
    paths.forget_counts(tx, path)
    session.pins_tokens = pins_tokens(texts)
    limit = session.budget.limit
    taken, allowed = scaled(session.pins_tokens, session.multiplier), int(limit * PINS_SHARE)
    if taken > allowed:
        raise PinTooLarge(taken, allowed)
    check_fixed_parts(session.policy, limit, session.overhead_tokens, session.multiplier)


def remove(tx: Transaction, tenant: str, session_id: str, pin_id: str, *, if_match: int | None = None) -> Path:
    """Remove a pin.

    Raises:
        NotFound: no such session or pin.
        StaleVersion: `if_match` is not the session's version.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    gone = tx.execute(delete(PIN).where(PIN.c.session_pk == path.session.pk, PIN.c.id == pin_id))
    if not gone.rowcount:
        raise NotFound("pin", pin_id)
    paths.forget_counts(tx, path)
    path.not_compacted = None
    path.session.pins_tokens = pins_tokens(pins_of(tx, path.session))
    paths.save(tx, path)
    return path
