"""What becomes of a provider's answer: it is stored where its request ended, and the session learns from its counts."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.engine.gateway.answers import Answer
from foldline.engine.gateway.fingerprints import fingerprints
from foldline.engine.messages import Message
from foldline.log.compaction.usage import Usage
from foldline.log.gateway.known import forget_deleted, known_part, remember
from foldline.log.gateway.turns import Turn
from foldline.log.storage import paths, segments
from foldline.log.storage.store import Store
from foldline.log.use_cases.append import append_at, prepare


def keep_answer(
    store: Store, tenant: str, turn: Turn, answer: Answer, exchange: Sequence[Message] = (), *, is_of_view: bool
) -> None:
    """Append an answer behind its request, and learn from its counts if the provider was sent the view.

    `exchange` is what the model and the gateway said before the answer. The agent never sees it, so that it is known
    again by the answer alone.

    What the agent sends as its past is the truth: if the answer has come back already, or the conversation has gone on
    elsewhere, nothing is appended. If it comes back as something else, that is a branch.

    Raises:
        NotFound: the session was deleted meanwhile.
    """
    digests = [*[None] * len(exchange), *fingerprints(answer.messages, turn.digest)]
    usage = Usage(turn.version, answer.prompt_tokens, output=answer.output_tokens) if is_of_view else None
    # Nobody would know an answer again of which nothing was said.
    is_said = bool(answer.messages and digests[-1] and answer.messages[-1].parts)
    drafts = prepare([*exchange, *answer.messages]) if is_said else []
    with store.write(shares=True) as tx:
        head = paths.open_head(tx, tenant, turn.session_id, lock=True)
        is_at_end = (head.branch, head.last_message_seq) == (turn.branch, turn.seq)
        is_known = bool(drafts) and known_part(tx, tenant, digests) is not None
        new = drafts if is_at_end and not is_known else []
        done = append_at(tx, head, new, usage=usage)
        if new:
            forget_deleted(tx, tenant, digests)
            places = [segments.parse_entry_id(entry_id) for entry_id in done.entry_ids]
            remember(tx, tenant, head.session.pk, places, digests)
