"""One request of an agent that sends its whole history: what is new in it is appended, and a view takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import IntegrityError

from foldline.engine.gateway.dialects import AgentRequest
from foldline.engine.gateway.fingerprints import fingerprints
from foldline.engine.messages import JsonObject, Message
from foldline.engine.overflow import Verdict
from foldline.log.errors import Conflict
from foldline.log.gateway.known import KnownPart, known_part, remember
from foldline.log.storage import paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import branches, lifecycle
from foldline.log.use_cases.append import PreparedMessage, append, prepare
from foldline.log.use_cases.lifecycle import NewSession
from foldline.log.use_cases.overflow import relieve
from foldline.log.use_cases.views import view

# Others may append to the same conversation between the look-up and the lock.
TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class Defaults:
    """What sessions of the gateway are created with, where the request does not say it."""

    policy: JsonObject
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A request's session. `tokens` are those of the whole history, `view_tokens` those of the view, both scaled.

    `messages` are the view's; None if it is the history as the agent sent it.
    """

    session_id: str
    version: int
    tokens: int
    view_tokens: int
    messages: list[Message] | None


def take_turn(store: Store, tenant: str, asked: AgentRequest, scope: str, defaults: Defaults) -> Turn:
    """Append what is new in a request to its session, a new one if nothing of it is known.

    Raises:
        UnknownModel, InvalidPolicy, FixedPartsDoNotFit: no session can have such requests.
        CallsOpen, ViewDoesNotFit, ImagesDoNotFit: there is no view that can be sent.
        Conflict: others changed the session all the time.
    """
    digests = fingerprints(asked.messages, scope)
    for _ in range(TRIES):
        with store.read() as tx:
            known = known_part(tx, tenant, digests)
        new = slice(known.messages if known else 0, None)
        drafts = prepare(asked.messages[new])
        try:
            with store.write(shares=True) as tx:
                if known_part(tx, tenant, digests) == known:
                    return _appended(tx, tenant, asked, _Part(known, drafts, digests[new]), defaults)
        except IntegrityError:
            # Another request appended the same.
            continue
    message = "the conversation is changed by other requests at the same time"
    raise Conflict(message)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is known of a conversation, and the messages after that with their fingerprints."""

    known: KnownPart | None
    drafts: Sequence[PreparedMessage]
    digests: Sequence[bytes | None]


def _appended(tx: Transaction, tenant: str, asked: AgentRequest, part: _Part, defaults: Defaults) -> Turn:
    path = _created(tx, tenant, asked, defaults) if part.known is None else _continued(tx, tenant, asked, part.known)
    session_id = path.session.id
    if part.drafts:
        done = append(tx, tenant, session_id, part.drafts)
        places = [segments.parse_entry_id(entry_id) for entry_id in done.entry_ids]
        remember(tx, tenant, path.session.pk, places, part.digests)
    return _shown(tx, tenant, session_id, asked)


def _shown(tx: Transaction, tenant: str, session_id: str, asked: AgentRequest) -> Turn:
    found = view(tx, tenant, session_id, format_name=asked.dialect.format)
    path = found.path
    messages = None if path.kept == path.raw else found.messages
    return Turn(session_id, path.session.version, path.session.used(path.raw), found.used, messages)


def relieved_turn(store: Store, tenant: str, asked: AgentRequest, turn: Turn, verdict: Verdict) -> Turn:
    """The turn with a smaller view, after its provider refused the one that it had.

    Raises:
        CannotShrink: no edit would make the view smaller.
    """
    with store.write(shares=True) as tx:
        relieve(tx, tenant, turn.session_id, verdict, version=turn.version)
        return _shown(tx, tenant, turn.session_id, asked)


def _created(tx: Transaction, tenant: str, asked: AgentRequest, defaults: Defaults) -> Path:
    new = NewSession(
        asked.model,
        context_window=defaults.context_window,
        max_output_tokens=asked.max_output_tokens,
        system=asked.system,
        tools=asked.tools,
        default_policy=defaults.policy,
    )
    return lifecycle.create(tx, tenant, new)


def _continued(tx: Transaction, tenant: str, asked: AgentRequest, known: KnownPart) -> Path:
    """The session with its head at the known entry, and the request's model and fixed parts."""
    path = paths.open_head(tx, tenant, known.session_id, lock=True)
    if (path.branch, path.last_message_seq) != (known.branch, known.seq):
        path = branches.move(tx, tenant, known.session_id, segments.entry_id(known.branch, known.seq)).path
    changes = _changes(path, asked)
    return lifecycle.change(tx, tenant, known.session_id, changes)[0] if changes else path


def _changes(path: Path, asked: AgentRequest) -> dict[str, Any]:
    session = path.session
    present = (session.model, session.max_output_tokens, session.system, session.tools)
    wanted = (asked.model, asked.max_output_tokens, asked.system, list(asked.tools))
    names = ("model", "max_output_tokens", "system", "tools")
    return {name: new for name, old, new in zip(names, present, wanted, strict=True) if old != new}
