"""What becomes of a provider's answer: its text is stored where its request ended, and its counts are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.engine.gateway.answers import Answer, texts_of
from foldline.engine.gateway.fingerprints import fingerprints
from foldline.engine.messages import Message
from foldline.log.compaction.usage import Usage, bounded, learn
from foldline.log.compaction.usage_estimate import note_report
from foldline.log.gateway.known import forget_deleted, known_part, move, remember
from foldline.log.gateway.side_calls import deleted_in_time
from foldline.log.gateway.turns import Turn
from foldline.log.storage import paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases.append import append_at, prepare

# Providers add some hundred tokens of their own to each prompt. Of a short one they would seem a large part.
LEAST_COUNTED: Final = 4_000
# Of the multiplier, in thousandths: a smaller change is not worth a commit after each answer.
LEAST_LEARNED: Final = 10


def keep_answer(
    store: Store, tenant: str, turn: Turn, answer: Answer, exchange: Sequence[Message] = (), *, is_of_view: bool
) -> None:
    """Append the text of an answer behind its request, and learn from its counts if the provider was sent the view.

    An answer with calls is not stored: the agent sends it back with their results, in the form that it is then to have.
    `exchange` is what the model and the gateway said before the answer. The agent never sees it, so it is a part of the
    request from then on. If the answer has come back already, or the conversation has gone on elsewhere, nothing is
    appended. If it comes back as something else, that is a branch.

    Raises:
        NotFound: the session was deleted meanwhile.
    """
    is_counted = is_of_view and _is_news(turn, answer.prompt_tokens)
    usage = Usage(turn.version, answer.prompt_tokens, output=answer.output_tokens) if is_counted else None
    said = texts_of(turn.dialect, answer)
    digests = fingerprints(said, turn.digest)
    drafts = prepare([*exchange, *said])
    if not drafts and usage is None:
        return
    with store.write(shares=True) as tx:
        head = paths.open_head(tx, tenant, turn.session_id, lock=True)
        with deleted_in_time(tx, head.session):
            is_at_end = (head.branch, head.last_message_seq) == (turn.branch, turn.seq)
            if drafts and is_at_end and known_part(tx, tenant, digests) is None:
                done = append_at(tx, head, drafts, usage=usage)
                places = [segments.parse_entry_id(entry_id) for entry_id in done.entry_ids]
                if exchange:
                    move(tx, tenant, turn.digest, places[len(exchange) - 1])
                forget_deleted(tx, tenant, digests)
                remember(tx, tenant, head.session.pk, places[len(exchange) :], digests)
            elif usage is not None:
                _learn(tx, head, usage)


def _is_news(turn: Turn, prompt_tokens: int) -> bool:
    """Whether something follows from a provider's count of the view."""
    if turn.view_tokens < LEAST_COUNTED:
        return False
    moved = bounded(turn.multiplier * prompt_tokens / turn.view_tokens) - turn.multiplier
    return turn.heeds_counts or abs(moved) >= LEAST_LEARNED


def _learn(tx: Transaction, head: Path, usage: Usage) -> None:
    """Learn without a new version: answers name the version that they follow, and no view has changed."""
    learn(tx, head, usage)
    note_report(head, usage, is_of_next=False)
    paths.save_leaf(tx, head)
    paths.save_session(tx, head.session)
