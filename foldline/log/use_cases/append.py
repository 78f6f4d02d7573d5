"""Appends messages to a session: each becomes an entry with its facts and totals, then the trigger runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts, Seen, facts_of
from foldline.engine.ledger.find import items_of
from foldline.engine.ledger.items import items_to_json
from foldline.engine.messages import Message, Text
from foldline.engine.models.budget import check_fixed_parts
from foldline.engine.planning.batches import place
from foldline.engine.planning.limited_outputs import limiting
from foldline.engine.tokens.counter import count_system
from foldline.engine.tokens.measures import Measure
from foldline.engine.wire import dumps
from foldline.log.compaction import trigger
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.compaction.usage import Usage, learn
from foldline.log.compaction.usage_estimate import counted_seq, note_report
from foldline.log.jobs.writing.cached_beginnings import rides
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.preconditions import open_to_change
from foldline.log.use_cases.session_size import check_size
from foldline.log.views import reasoning

# The messages of a turn: hardly any plan hides them at once, unless they are large.
NEWEST: Final = 8
LARGE_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A message that is counted and serialized, perhaps with its ledger's items. Making one needs no lock."""

    message: Message
    facts: Facts
    body: bytes
    ledger: bytes | None = None

    def binding_to(self, seen: Seen) -> PreparedMessage:
        """The message, noted as the answer to this view."""
        return replace(self, facts=self.facts._replace(seen=seen))


@dataclass(frozen=True, slots=True)
class Appended:
    """The result of an append: the ids of the new entries in order, the path, and the trigger's result.

    A message that became the session's system prompt has no entry.
    """

    entry_ids: list[str]
    path: Path
    step: TriggerResult


def prepare(messages: Sequence[Message]) -> list[PreparedMessage]:
    """The messages, counted and serialized; call it before a lock is taken. One that equals another is read once.

    The sweep finds the items of the newest. Those before them, and large ones, may be hidden in the transaction that
    appends them, and then an interim summary asks for their items under its lock.
    """
    older = len(messages) - NEWEST
    by_body: dict[bytes, PreparedMessage] = {}
    return [_prepared(message, by_body, has_items=index < older) for index, message in enumerate(messages)]


def _prepared(message: Message, by_body: dict[bytes, PreparedMessage], *, has_items: bool) -> PreparedMessage:
    body = dumps(message.source)
    same = by_body.get(body)
    # Which call a result answers may follow from the messages before it alone, as in Gemini's format.
    if same is not None and same.message == message:
        return same
    ledger = dumps(items_to_json(items_of(message))) if has_items or len(body) > LARGE_BYTES else None
    by_body[body] = PreparedMessage(message, facts_of(message), body, ledger)
    return by_body[body]


def append(
    tx: Transaction,
    tenant: str,
    session_id: str,
    drafts: Sequence[PreparedMessage],
    *,
    usage: Usage | None = None,
    parent: str | None = None,
    if_match: int | None = None,
) -> Appended:
    """Append messages at the head, contiguous and in order, then run the trigger.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        UnknownVersion: the usage is of a version that the session has not reached.
        LimitExceeded: the session has no room for them.
        FixedPartsDoNotFit: the leading system message of a first append leaves no room for a history.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    return append_at(tx, path, drafts, usage=usage, if_match=if_match)


def append_at(
    tx: Transaction,
    path: Path,
    drafts: Sequence[PreparedMessage],
    *,
    usage: Usage | None = None,
    if_match: int | None = None,
) -> Appended:
    """Append messages at a head that is loaded and locked, then run the trigger.

    Raises:
        UnknownVersion, LimitExceeded, FixedPartsDoNotFit: as `append`.
    """
    check_size(tx, path, len(drafts), sum(len(draft.body) for draft in drafts))
    if usage is not None:
        learn(tx, path, usage)
    drafts = _with_system_taken(tx, path, drafts)
    if usage is not None:
        note_report(path, usage, is_of_next=bool(drafts) and drafts[0].facts.role == "assistant")
    drafts = _with_views_noted(tx, path, drafts, if_match if usage is None else usage.version)
    measure = None if path.estimated is None else path.aims().gauge.measure
    rows = [_row(tx, path, draft, measure) for draft in drafts]
    if rows:
        entry_log.insert_entries(tx, rows)
    made = trigger.limit_outputs(tx, path, _limiting(path, drafts, rows))
    step = trigger.run_trigger(tx, path, repeats=False, made=made)
    paths.save(tx, path)
    return Appended([segments.entry_id(path.branch, row["seq"]) for row in rows], path, step)


def _limiting(path: Path, drafts: Sequence[PreparedMessage], rows: Sequence[Mapping[str, Any]]) -> tuple[Edit, ...]:
    """The edits that cut new outputs over the policy's limits to excerpts."""
    if not path.session.auto_compact:
        return ()
    policy, entries = path.session.policy, zip(drafts, rows, strict=True)
    found = (
        limiting(policy, draft.message, draft.facts._replace(seq=row["seq"], is_late=row["is_late"]))
        for draft, row in entries
    )
    return tuple(filter(None, found))


def _with_system_taken(tx: Transaction, path: Path, drafts: Sequence[PreparedMessage]) -> Sequence[PreparedMessage]:
    """The messages to append, without a leading system message that becomes the session's system prompt.

    Only the first append can set the system prompt, and only of a session that has none.

    Raises:
        FixedPartsDoNotFit: it takes too much of the budget.
    """
    if path.leaf_seq or path.session.system_json is not None or not drafts or not _is_plain_system(drafts[0].message):
        return drafts
    text = drafts[0].message.text
    session = path.session
    session.system_json = dumps(text)
    session.fixed_tokens += count_system(text)
    check_fixed_parts(session.policy, session.budget.limit, session.overhead_tokens, session.multiplier)
    paths.save_texts(tx, session)
    return drafts[1:]


def _with_views_noted(
    tx: Transaction, path: Path, drafts: Sequence[PreparedMessage], version: int | None
) -> Sequence[PreparedMessage]:
    """The messages, each with the view that it answers where that will be needed.

    It is for bound reasoning, and for all answers of a model whose cached views a summarizer may be sent.
    """
    are_noted = rides(tx.limits, path.session)
    noted = [draft.facts.bound or (are_noted and draft.facts.role == "assistant") for draft in drafts]
    if not any(noted):
        return drafts
    seen = reasoning.seen_view(tx, path, version)
    return [draft.binding_to(seen) if is_noted else draft for draft, is_noted in zip(drafts, noted, strict=True)]


def _is_plain_system(message: Message) -> bool:
    """Whether a message is a system message of one text, without other fields that `system` could not keep."""
    extra = set(message.source or ()) - {"role", "content", "parts"}
    is_plain = all(isinstance(part, Text) and set(part.source or ()) <= {"type", "text"} for part in message.parts)
    return message.role == "system" and len(message.parts) == 1 and is_plain and not extra


def _row(tx: Transaction, path: Path, draft: PreparedMessage, measure: Measure | None) -> dict[str, Any]:
    seq = path.leaf_seq + 1
    placed = place(draft.facts, seq, path.tail)
    entry_log.advance(path, placed)
    path.last_message_seq = seq
    path.messages += 1
    if path.estimated is not None and measure is not None and seq > counted_seq(path):
        path.estimated += measure.added(placed.facts, placed.stubs)
    return entry_log.message_columns(tx, path, placed.facts, draft.message, draft.body, ledger=draft.ledger)
