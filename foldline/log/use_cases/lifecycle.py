"""Creates, lists, changes and deletes sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import and_, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from foldline.engine.messages import JsonObject
from foldline.engine.models.budget import check_fixed_parts
from foldline.engine.models.catalog import only_listed
from foldline.engine.models.gauge import Frame
from foldline.engine.models.given_fields import check_given
from foldline.engine.models.limits import limits_of
from foldline.engine.models.windows import parse_size
from foldline.engine.policies.policy import Policy, policy_of, to_stored
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_system, count_tools
from foldline.engine.wire import dumps
from foldline.log.compaction import trigger
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.errors import Conflict
from foldline.log.jobs import deletion, retention
from foldline.log.sealing.pages import LIST_BYTES, fitting
from foldline.log.storage import paths
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY, SESSION, BranchRow
from foldline.log.tenant_room import check_sessions
from foldline.log.use_cases.preconditions import check_summarizers

_TEXT_BYTES: Final = sum((func.coalesce(func.length(SESSION.c[name]), 0) for name in sorted(paths.TEXTS)), literal(0))


@dataclass(frozen=True, slots=True)
class NewSession:
    """The values of a new session; `context_window` is a number of tokens or a size such as `"128k"`.

    A `policy` that names no preset is a change of the `default_policy`, whose fields no caller gave.
    """

    model: str
    id: str | None = None
    context_window: int | str | None = None
    max_output_tokens: int | None = None
    system: str | None = None
    tools: Sequence[JsonObject] = ()
    policy: Mapping[str, Any] | None = None
    default_policy: Mapping[str, Any] | None = None
    auto_compact: bool = True
    retention_days: int | None = None


def create(tx: Transaction, tenant: str, new: NewSession) -> Path:
    """Create a session; the path of its first branch.

    Raises:
        UnknownModel: no window is known for the model, and none is given.
        InvalidPolicy: the policy cannot work.
        FixedPartsDoNotFit: system prompt and tools leave no room for a history.
        Conflict: the id is used already.
        TenantLimitReached: the tenant has as many sessions as it may.
    """
    window = None if new.context_window is None else parse_size(new.context_window)
    policy = policy_of(new.policy or {}, PRESETS, policy_of(new.default_policy or {}, PRESETS))
    check_summarizers(tx, policy)
    frame = Frame(new.model, window, new.max_output_tokens)
    budget = frame.budget(policy)
    check_given(policy, new.policy, frame)
    tools_tokens = count_tools(new.tools)
    fixed_tokens = count_system(new.system) + tools_tokens
    check_fixed_parts(policy, budget.limit, fixed_tokens, 1000)
    check_sessions(tx, tenant)
    session_id = new.id or tx.new_id("s")
    values = {
        "tenant": tenant,
        "id": session_id,
        "model": new.model,
        "context_window": _window_to_keep(frame, policy),
        "max_output_tokens": new.max_output_tokens,
        "auto_compact": new.auto_compact,
        "head": 0,
        "branches": 1,
        "version": 1,
        "multiplier": 1000,
        "fixed_tokens": fixed_tokens,
        "tools_tokens": tools_tokens,
        "pins_tokens": 0,
        "created_at": tx.now,
        "quiet_since": tx.now,
        **retention.columns(tx.now, new.retention_days),
        "policy": dumps(to_stored(policy, PRESETS)),
        "tools": dumps(list(new.tools)),
        "system": None if new.system is None else dumps(new.system),
    }
    try:
        pk = tx.execute(insert(SESSION).values(values)).inserted_primary_key[0]
    except IntegrityError as error:
        raise Conflict(f"the session id {session_id!r} is used already") from error
    first = BranchRow(session_pk=pk, branch=0, tenant=tenant, images=0, image_bytes=0, image_side=0)
    tx.execute(insert(BRANCH).values(first.model_dump()))
    if new.id is not None:
        _pass_deleted(tx, tenant, new.id)
    return paths.open_head(tx, tenant, session_id)


def _window_to_keep(frame: Frame, policy: Policy) -> int | None:
    """The window to store: the given one, or one that only this policy's registry knows; else None."""
    window = frame.window(policy).tokens
    return window if frame.context_window is not None or only_listed(frame.model or "") else None


def _pass_deleted(tx: Transaction, tenant: str, session_id: str) -> None:
    """Start above the versions of deleted sessions of this id, so that no ETag of theirs names a view of this one."""
    # Read after the insert: only then the deletion that freed the id is certain to be visible.
    deleted = SESSION.alias()
    newest = (
        select(func.coalesce(func.max(deleted.c.version), 0))
        .where(deleted.c.tenant == tenant, deleted.c.id == session_id, deleted.c.deleted_at.is_not(None))
        .scalar_subquery()
    )
    tx.execute(
        update(SESSION)
        .where(SESSION.c.tenant == tenant, SESSION.c.id == session_id, SESSION.c.deleted_at.is_(None))
        .values(version=newest + 1)
    )


def newest(tx: Transaction, tenant: str) -> str | None:
    """The id of the tenant's newest session, if there is any."""
    statement = select(SESSION.c.id).where(SESSION.c.tenant == tenant, SESSION.c.deleted_at.is_(None))
    found: str | None = tx.execute(statement.order_by(SESSION.c.pk.desc()).limit(1)).scalar()
    return found


class SessionPage(NamedTuple):
    """The paths of some sessions, and the primary key after which others follow, if there are any."""

    items: list[Path]
    next_position: int | None


def list_sessions(tx: Transaction, tenant: str, after_pk: int, limit: int) -> SessionPage:
    """Up to `limit` sessions of a tenant after a primary key, oldest first: fewer where they are large."""
    chosen = SESSION.c.tenant == tenant, SESSION.c.deleted_at.is_(None), SESSION.c.pk > after_pk
    # The database is asked how large their texts are before this process reads them.
    sized = tx.execute(select(SESSION.c.pk, _TEXT_BYTES).where(*chosen).order_by(SESSION.c.pk).limit(limit + 1)).all()
    number = min(limit, fitting((size for _, size in sized), LIST_BYTES))
    rows = tx.execute(paths.HEAD.where(*chosen).order_by(SESSION.c.pk).limit(number))
    return SessionPage([paths.path_of(row) for row in rows], sized[number - 1].pk if number < len(sized) else None)


def last_spoken(tx: Transaction, tenant: str, limit: int) -> list[Path]:
    """Up to `limit` sessions of a tenant, first the one whose branch in use got a message last.

    They are fewer where they are large. A session, or a branch, without messages of its own has the time at which the
    session was created.
    """
    newest = and_(
        ENTRY.c.session_pk == SESSION.c.pk, ENTRY.c.branch == BRANCH.c.branch, ENTRY.c.seq == BRANCH.c.last_message_seq
    )
    spoken_at = func.coalesce(ENTRY.c.created_at, SESSION.c.created_at)
    chosen = SESSION.c.tenant == tenant, SESSION.c.deleted_at.is_(None)
    # Of many sessions that are compared, the texts of few are read.
    keys = select(SESSION.c.pk, _TEXT_BYTES).join_from(
        SESSION, BRANCH, and_(BRANCH.c.session_pk == SESSION.c.pk, BRANCH.c.branch == SESSION.c.head)
    )
    best = keys.outerjoin(ENTRY, newest).where(*chosen).order_by(spoken_at.desc(), SESSION.c.pk.desc()).limit(limit)
    sized = tx.execute(best).all()
    first = [pk for pk, _ in sized[: fitting((size for _, size in sized), LIST_BYTES)]]
    found = {row.pk: paths.path_of(row) for row in tx.execute(paths.HEAD.where(SESSION.c.pk.in_(first)))}
    return [found[pk] for pk in first]


def change(
    tx: Transaction,
    tenant: str,
    session_id: str,
    changes: Mapping[str, Any],
    *,
    default_policy: Mapping[str, Any] | None = None,
    if_match: int | None = None,
) -> tuple[Path, TriggerResult]:
    """Change model, window, output limit, system prompt, tools, policy, retention or `auto_compact`; run the trigger.

    A policy of None is the `default_policy`.

    Raises:
        NotFound: no such session.
        StaleVersion: `if_match` is not the session's version.
        UnknownModel, InvalidPolicy, FixedPartsDoNotFit: the session could not work; nothing was changed.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    session = path.session
    counted_by, limits, writers = _counted_by(session), limits_of(session.model), session.policy.writers
    _set(session, changes, default_policy or {})
    session.fixed_tokens = count_system(session.system) + session.tools_tokens
    if session.policy.writers != writers:
        check_summarizers(tx, session.policy)
    check_given(session.policy, changes.get("policy"), session.frame)
    check_fixed_parts(session.policy, session.budget.limit, session.overhead_tokens, session.multiplier)
    paths.save_texts(tx, session)
    if "retention_days" in changes:
        _keep_for(tx, session, changes["retention_days"])
    if _counted_by(session) != counted_by:
        paths.forget_counts(tx, path)
    if limits_of(session.model) != limits:
        paths.forget_images(tx, path)
    step = trigger.run_trigger(tx, path)
    paths.save(tx, path)
    return path, step


def _counted_by(session: Session) -> tuple[Any, ...]:
    """The values that stored counts depend on: the policy's counter, the model and the fixed parts."""
    policy = session.policy
    return policy.counter, policy.trusts_usage, session.model, session.system_json, session.tools_json


def _set(session: Session, changes: Mapping[str, Any], default_policy: Mapping[str, Any]) -> None:
    if changes.get("model", session.model) != session.model and session.context_window in only_listed(session.model):
        # The caller did not choose this window: it belongs to the former model.
        session.context_window = None
    for name in ("model", "max_output_tokens", "auto_compact"):
        if name in changes:
            setattr(session, name, changes[name])
    if "context_window" in changes:
        window = changes["context_window"]
        session.context_window = None if window is None else parse_size(window)
    if "system" in changes:
        session.system_json = None if changes["system"] is None else dumps(changes["system"])
    if "tools" in changes:
        session.tools_json = dumps(list(changes["tools"] or ()))
        session.tools_tokens = count_tools(session.tools)
    if "policy" in changes:
        given = changes["policy"]
        policy = policy_of(default_policy, PRESETS) if given is None else policy_of(given, PRESETS, session.policy)
        session.policy_json = dumps(to_stored(policy, PRESETS))
    session.context_window = _window_to_keep(session.frame, session.policy)


def _keep_for(tx: Transaction, session: Session, days: int | None) -> None:
    session.retention_days = days
    # When it got its last message is read when it is looked at, which may be early, and never is late.
    columns = retention.columns(session.created_at, days)
    tx.execute(update(SESSION).where(SESSION.c.pk == session.pk).values(columns))


def expiry(tx: Transaction, session_pk: int) -> int | None:
    """When a session is deleted if nothing of it changes, in milliseconds since the epoch."""
    found: int | None = tx.execute(select(SESSION.c.expires_at).where(SESSION.c.pk == session_pk)).scalar()
    return found


def expire(tx: Transaction, session_pk: int, at: int) -> None:
    """Have a session deleted then; every change of it after this takes that back."""
    tx.execute(update(SESSION).where(SESSION.c.pk == session_pk).values(expires_at=at))


def delete(tx: Transaction, tenant: str, session_id: str) -> None:
    """Delete a session: its id is free at once, its jobs are cancelled, and the sweeper removes its rows later.

    Raises:
        NotFound: no such session.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True)
    deletion.delete_sessions(tx, tenant, {path.session.pk: session_id})
