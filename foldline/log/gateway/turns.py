"""One request of an agent that sends its whole history: what is new in it is appended, and a view takes its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import IntegrityError

from foldline.engine.errors import InvalidMessage
from foldline.engine.gateway.dialects import AgentRequest, Dialect
from foldline.engine.messages import JsonObject
from foldline.engine.models.windows import known_model
from foldline.engine.overflow import Verdict
from foldline.log.errors import Conflict, NotFound, UnknownEntry
from foldline.log.gateway.beginnings import Beginnings, Conversation, read
from foldline.log.gateway.known import KnownPart, forget_deleted, known_part, remember, waiting_calls
from foldline.log.gateway.side_calls import deleted_in_time
from foldline.log.storage import paths, segments
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import branches, lifecycle
from foldline.log.use_cases.append import NEWEST, PreparedMessage, append_at, prepare
from foldline.log.use_cases.lifecycle import NewSession
from foldline.log.use_cases.overflow import is_relieved, relieve
from foldline.log.use_cases.views import version_of

# Others may append to the same conversation between the look-up and the lock.
TRIES: Final = 4
# The system prompt and tools of a coding agent take 20,000 tokens, which leaves little of a small window.
ANSWER_PART: Final = 8

# No request has so many tokens.
BOUNDLESS: Final = 1_000_000_000

# Makes the view at a loaded head in a format: its messages, each as JSON.
ReadView = Callable[[Transaction, Path, str], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What sessions of the gateway are created with, where the request does not say it.

    All have the `context_window`; without one, a new session begins with the `first_window`. One that begins without
    tools, as side calls do, is deleted after `side_call_seconds` unless it goes on.
    """

    policy: JsonObject
    context_window: int | None = None
    first_window: int | None = None
    side_call_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A request's session. `tokens` are those of the whole history, `view_tokens` those of the view, both scaled.

    `wires` are the view's messages, each as JSON; None if it is the history as the agent sent it. The request ends at
    the entry `seq` of `branch`, and `digest` is the fingerprint of all that it says in its `dialect`. `multiplier` is
    the session's, in thousandths; `heeds_counts`: its policy goes by what providers count.
    """

    session_id: str
    version: int
    tokens: int
    view_tokens: int
    wires: Sequence[bytes] | None
    branch: int
    seq: int
    digest: bytes
    dialect: Dialect
    multiplier: int
    heeds_counts: bool


def take_turn(
    store: Store,
    tenant: str,
    asked: AgentRequest,
    scope: str,
    defaults: Defaults,
    *,
    beginnings: Beginnings,
    read_view: ReadView,
    is_awaited: Callable[[], bool] = lambda: True,
) -> Turn:
    """Append what is new in a request to its session, a new one if nothing of it is known.

    If it `is_awaited` no more when its turn comes, little is left to the next request, which has all that it has.

    Raises:
        InvalidMessage: its conversation cannot be read, or ends with reasoning, which nobody answers.
        UnknownModel, InvalidPolicy, FixedPartsDoNotFit: no session can have such requests.
        CallsOpen, ViewDoesNotFit, ImagesDoNotFit: there is no view that can be sent.
        Conflict: others changed the session all the time, or nobody waits any more.
    """
    conversation = read(beginnings, tenant, asked, seed_of(asked, scope))
    return turn_of(store, tenant, conversation, defaults, read_view, is_awaited=is_awaited)


def turn_of(
    store: Store,
    tenant: str,
    conversation: Conversation,
    defaults: Defaults,
    read_view: ReadView,
    *,
    is_awaited: Callable[[], bool] = lambda: True,
) -> Turn:
    """The turn of a conversation that is read; this costs what is new in it.

    Raises:
        InvalidMessage, UnknownModel, InvalidPolicy, FixedPartsDoNotFit, CallsOpen, ViewDoesNotFit, ImagesDoNotFit,
        Conflict: as `take_turn`.
    """
    digest, asked = conversation.digests[-1], conversation.asked
    if digest is None:
        raise InvalidMessage(asked.dialect.messages, "must not end with reasoning")
    call = _Call(tenant, asked, digest, defaults, read_view)
    for attempt in range(TRIES):
        part = _part_of(store, tenant, conversation, conversation.stored if attempt == 0 else None)
        known = part.known
        try:
            with store.write(shares=len(part.drafts) <= NEWEST) as tx:
                if attempt:
                    forget_deleted(tx, tenant, part.new_digests)
                # Two of one conversation take turns from here on.
                head = None if known is None else paths.open_head(tx, tenant, known.session_id, lock=True)
                new = _still_new(tx, call, part, head)
                # To read much took so long, and would take the next request as long.
                if not is_awaited() and (new is None or len(new.drafts) <= NEWEST):
                    raise Conflict("nobody waits for this request any more")
                path = None if new is None else _appended(tx, call, new, head)
            turn = None if path is None else _seen(store, call, path)
        except (IntegrityError, NotFound, UnknownEntry):
            # Another request began the same conversation, or deleted it.
            continue
        if turn is not None and path is not None:
            conversation.keep_place(_place_of(path, len(part.digests)))
            return turn
    message = "the conversation is changed by other requests at the same time"
    raise Conflict(message)


def seed_of(asked: AgentRequest, scope: str) -> str:
    """Where the chain of fingerprints begins: side calls, to another model or without tools, are no part of it."""
    return "\0".join((scope, asked.model, "tools" if asked.tools else ""))


@dataclass(frozen=True, slots=True)
class _Call:
    """A request, whose it is, and the fingerprint of all that it says."""

    tenant: str
    asked: AgentRequest
    digest: bytes
    defaults: Defaults
    read_view: ReadView


@dataclass(frozen=True, slots=True)
class _Part:
    """What is known of a conversation, the messages that follow that, and the fingerprints of the whole."""

    known: KnownPart | None
    drafts: Sequence[PreparedMessage]
    digests: Sequence[bytes | None]

    @property
    def new_digests(self) -> Sequence[bytes | None]:
        """The fingerprints of the messages that follow."""
        return self.digests[self.known.messages if self.known else 0 :]


def _part_of(store: Store, tenant: str, conversation: Conversation, known: KnownPart | None) -> _Part:
    """What follows the known part of a conversation, which is looked up unless it is given."""
    digests = conversation.digests
    if known is None:
        with store.read() as tx:
            known = known_part(tx, tenant, digests)
    new = conversation.messages_from(known.messages if known else 0)
    if known is not None and new and new[0].result is not None:
        with store.read() as tx:
            digests = _without_other_calls(conversation, known, waiting_calls(tx, known))
            known = known if digests is conversation.digests else known_part(tx, tenant, digests)
        new = conversation.messages_from(known.messages if known else 0)
    return _Part(known, prepare(new), digests)


def _without_other_calls(
    conversation: Conversation, known: KnownPart, waiting: Collection[str]
) -> Sequence[bytes | None]:
    """The fingerprints, without those from the last known calls on if `waiting` ones have ids that the request has not.

    Fingerprints leave ids out. A model that repeats a call gives it a new id, and the result answers that one: the
    request's own calls are stored with it, as a branch.
    """
    messages, digests = conversation.messages_from(0)[: known.messages], conversation.digests
    first = next((at for at, message in reversed([*enumerate(messages)]) if message.calls), known.messages)
    if {call.id for message in messages[first:] for call in message.calls}.issuperset(waiting):
        return digests
    return [*digests[:first], *[None] * (known.messages - first), *digests[known.messages :]]


def _still_new(tx: Transaction, call: _Call, part: _Part, head: Path | None) -> _Part | None:
    """What of a part is new now that its session is locked; None if that is to be looked up again.

    So it is if another session has the conversation, or if calls that it has are known now, but not their results.
    """
    known = part.known
    if known is not None and head is not None and known.at == head.session.at:
        return part
    found = known_part(tx, call.tenant, part.digests)
    if known is None or found is None:
        return part if known is found else None
    more = found.messages - known.messages
    is_same = found.at[:2] == known.at[:2] and more >= 0
    drafts = part.drafts[more:]
    has_results_alone = more > 0 and bool(drafts) and drafts[0].facts.answers is not None
    return _Part(found, drafts, part.digests) if is_same and not has_results_alone else None


def _place_of(path: Path, messages: int) -> KnownPart:
    return KnownPart(path.session.id, path.session.at, path.branch, path.last_message_seq, messages)


def _appended(tx: Transaction, call: _Call, part: _Part, head: Path | None) -> Path:
    """The session with all that the request has, and its head there."""
    path = _created(tx, call) if part.known is None or head is None else _continued(tx, call, head, part.known)
    if part.drafts:
        done = append_at(tx, path, part.drafts)
        places = [segments.parse_entry_id(entry_id) for entry_id in done.entry_ids]
        remember(tx, call.tenant, path.session.pk, places, part.new_digests)
        seconds = call.defaults.side_call_seconds
        if part.known is None and not call.asked.tools and seconds is not None:
            lifecycle.expire(tx, path.session.pk, tx.now + seconds * 1000)
    elif path.used > path.session.budget.limit:
        # The same request once more, after an undo: as an append would, a change runs the trigger.
        path, _ = lifecycle.change(tx, call.tenant, path.session.id, {})
    return path


def _seen(store: Store, call: _Call, path: Path) -> Turn | None:
    """The turn at a committed path; None if another request has moved the head meanwhile.

    The view is made without the lock, and of what the process knows of committed entries.
    """
    if path.kept == path.raw:
        return _turn(path, None, call.digest, call.asked.dialect)
    with store.read() as tx:
        is_newest = version_of(tx, call.tenant, path.session.id) == path.session.at
        head = path if is_newest else paths.open_head(tx, call.tenant, path.session.id)
        is_there = (head.branch, head.last_message_seq) == (path.branch, path.last_message_seq)
        return _shown(tx, head, call.asked.dialect, call.digest, call.read_view) if is_there else None


def _shown(tx: Transaction, path: Path, dialect: Dialect, digest: bytes, read_view: ReadView) -> Turn:
    wires = None if path.kept == path.raw else read_view(tx, path, dialect.format)
    return _turn(path, wires, digest, dialect)


def _turn(path: Path, wires: Sequence[bytes] | None, digest: bytes, dialect: Dialect) -> Turn:
    session = path.session
    tokens, view_tokens = session.used(path.raw), path.used
    place = path.branch, path.last_message_seq
    counts = session.multiplier, session.policy.heeds_usage
    return Turn(session.id, session.version, tokens, view_tokens, wires, *place, digest, dialect, *counts)


def relieved_turn(store: Store, tenant: str, turn: Turn, verdict: Verdict, read_view: ReadView) -> Turn:
    """The turn with a smaller view, after its provider refused the one that it had.

    Raises:
        CannotShrink: no edit would make the view smaller.
    """
    with store.write(shares=True) as tx:
        head = paths.open_head(tx, tenant, turn.session_id, lock=True)
        with deleted_in_time(tx, head.session):
            # Another request may have moved the head meanwhile, or, refused at the same time, relieved the view.
            path = _at(tx, head, turn.branch, turn.seq)
            refused = turn.view_tokens * path.session.multiplier // turn.multiplier
            if not is_relieved(path, verdict, refused):
                path, _, _ = relieve(tx, tenant, turn.session_id, verdict, version=path.session.version)
        return _shown(tx, path, turn.dialect, turn.digest, read_view)


def _created(tx: Transaction, call: _Call) -> Path:
    asked, defaults = call.asked, call.defaults
    new = NewSession(
        asked.model,
        context_window=defaults.context_window or defaults.first_window,
        max_output_tokens=_output_tokens(asked, defaults),
        # Not None: then the first message would become it.
        system=asked.system or "",
        tools=asked.tools,
        default_policy=defaults.policy,
    )
    return lifecycle.create(tx, call.tenant, new)


def _continued(tx: Transaction, call: _Call, head: Path, known: KnownPart) -> Path:
    """The session with its head at the known entry, and the request's model and fixed parts."""
    path = _at(tx, head, known.branch, known.seq)
    changes = _changes(path, call.asked, call.defaults)
    return lifecycle.change(tx, call.tenant, known.session_id, changes)[0] if changes else path


def _at(tx: Transaction, head: Path, branch: int, seq: int) -> Path:
    """The session with its head at this entry; a new branch begins there if it is not the last of its own."""
    if (head.branch, head.last_message_seq) == (branch, seq):
        return head
    return branches.move(tx, head.session.tenant, head.session.id, segments.entry_id(branch, seq)).path


def _changes(path: Path, asked: AgentRequest, defaults: Defaults) -> dict[str, Any]:
    session = path.session
    wanted = {
        "max_output_tokens": _output_tokens(asked, defaults),
        "system": asked.system or "",
        "tools": list(asked.tools),
        "context_window": _window(session, defaults),
    }
    return {name: value for name, value in wanted.items() if getattr(session, name) != value}


def _window(session: Session, defaults: Defaults) -> int | None:
    """The session's window from now on: a model that was not known may be, by a newer list of models."""
    if defaults.context_window is None and session.context_window == BOUNDLESS and known_model(session.model):
        return None
    return defaults.context_window or session.context_window


def _output_tokens(asked: AgentRequest, defaults: Defaults) -> int | None:
    """The bound of the answer. In a window that was chosen it is a share: agents ask for their own model's most."""
    if defaults.context_window is None:
        return asked.max_output_tokens
    return min(asked.max_output_tokens or defaults.context_window, defaults.context_window // ANSWER_PART)
