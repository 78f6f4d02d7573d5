"""What a provider gets in place of a request: a view of its conversation, or the request as it came."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from http import HTTPStatus
from threading import Event
from typing import Final, TypeAlias, TypeVar

import anyio.to_thread
from fastapi import Request

from foldline.engine.errors import CompactionError, InvalidMessage, UnknownModel
from foldline.engine.gateway.cache_marks import marks_in
from foldline.engine.gateway.dialects import AgentRequest, Dialect, RequestBody, understood
from foldline.engine.gateway.recalls import takes_recall, with_recall
from foldline.engine.models.windows import known_model
from foldline.engine.overflow import PROVIDERS, Verdict, verdict_of
from foldline.log.errors import CannotShrink, LimitExceeded, TenantLimitReached
from foldline.log.events import OTHER, GatewayCall, GatewayOutcome, OverflowReported
from foldline.log.gateway.beginnings import Beginnings
from foldline.log.gateway.turns import BOUNDLESS, Defaults, Turn, relieved_turn, take_turn
from foldline.settings import Settings, variable
from foldline.telemetry.logs import describe
from foldline_api.gateway.overdue import LAST_PATIENCE_SECONDS, PATIENCE_SECONDS, UnderWay
from foldline_api.gateway.upstream import Upstreams
from foldline_api.http.bounds.json_bounds import loads_within
from foldline_api.http.bounds.pieces import Pieces
from foldline_api.http.bounds.places import MANY_OF_CONVERSATION, Places
from foldline_api.http.known_keys import Caller
from foldline_api.http.problems import TooManyLarge
from foldline_api.service import AppState

logger = logging.getLogger(__name__)

CONVERSATION_HEADER: Final = "x-foldline-conversation"
MODE_HEADER: Final = "x-foldline"
Found = TypeVar("Found")
# With these, a provider may refuse the order of a view's roles, or a part that the agent did not send.
_OF_FORM: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
# What llama.cpp's server answers with 500 if a model's template refuses the messages.
_OF_TEMPLATE: Final = re.compile(
    r"jinja|template|\broles?\b|system message|while executing|no user query", re.IGNORECASE
)
# Whether anybody waits for the answer still.
IsAwaited: TypeAlias = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Gateway:
    """What the routes of one application share."""

    service: AppState
    upstreams: Upstreams
    beginnings: Beginnings
    under_way: UnderWay = field(default_factory=UnderWay)

    @property
    def settings(self) -> Settings:
        """The settings of the process."""
        return self.service.settings


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """One request to a provider's API, as it came."""

    upstream: str
    path: str
    request: Request
    pieces: Pieces

    @property
    def raw(self) -> bytes:
        """The body as it came."""
        return self.pieces.whole()

    @property
    def tenant(self) -> str:
        """Whose it is."""
        tenant: str = self.request.state.caller.tenant
        return tenant


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What the provider gets, and the session that it is of; None if the request goes on as it came.

    A request that was read but got no turn, as of a model without a known window, has `asked` alone. `offered` is the
    body before it was written, if it offers the recall tool.
    """

    body: bytes
    outcome: GatewayOutcome
    asked: AgentRequest | None = None
    turn: Turn | None = None
    offered: RequestBody | None = None

    @property
    def is_changed(self) -> bool:
        """Whether the provider gets a view in place of what came."""
        return self.outcome in {GatewayOutcome.VIEW, GatewayOutcome.SENT_AGAIN}

    @property
    def is_of_view(self) -> bool:
        """Whether the provider counts the tokens of the session's view."""
        return self.outcome is not GatewayOutcome.SHADOW

    @property
    def headers(self) -> dict[str, str]:
        """Our headers of the answer."""
        if self.turn is None:
            return {}
        return {
            "X-Foldline-Session": self.turn.session_id,
            "X-Foldline-Version": str(self.turn.version),
            "X-Foldline-Tokens": str(self.turn.tokens),
            "X-Foldline-View-Tokens": str(self.turn.view_tokens),
        }


@dataclass(frozen=True, slots=True)
class ProviderRefusal:
    """A provider's refusal of a request: its status, and its text."""

    status: int
    text: str

    @property
    def may_be_of_form(self) -> bool:
        """Whether the provider might accept the same conversation in another form."""
        is_of_template = self.status == HTTPStatus.INTERNAL_SERVER_ERROR and _OF_TEMPLATE.search(self.text)
        return self.status in _OF_FORM or bool(is_of_template)


async def forwarded(gateway: Gateway, dialect: Dialect, call: GatewayRequest) -> Forwarded:
    """The view that takes the conversation's place. Whatever goes wrong with it, the request goes on as it came."""
    is_off = GatewayOutcome.OFF in {gateway.settings.gateway, call.request.headers.get(MODE_HEADER)}
    found, read = None, list[AgentRequest]()
    if not is_off and not gateway.under_way.is_stuck(call.tenant):
        place = _place(gateway.service.places, call)
        work = partial(_prepare, gateway, dialect, call, read)
        found = await _in_place(gateway.under_way, place, work, PATIENCE_SECONDS)
    outcome = GatewayOutcome.OFF if is_off else GatewayOutcome.TOO_SLOW
    found = found or Forwarded(call.raw, outcome, next(iter(read), None))
    _publish(gateway, found)
    return found


async def forwarded_again(
    gateway: Gateway, call: GatewayRequest, refused: Forwarded, refusal: ProviderRefusal
) -> Forwarded | None:
    """What the provider gets after its refusal: a smaller view if it was for length, else what came in a view's place.

    None if nothing else can be sent. What came is refused for good.
    """
    if gateway.settings.gateway != "on":
        return None
    work = partial(_after_refusal, gateway, call, refused, refusal)
    # A conversation that is stored is not read again.
    if refused.turn:
        return await _in_place(gateway.under_way, nullcontext(), work, PATIENCE_SECONDS)
    return await _in_place(gateway.under_way, _place(gateway.service.places, call), work, LAST_PATIENCE_SECONDS)


async def _in_place(
    under_way: UnderWay,
    place: AbstractAsyncContextManager[None],
    work: Callable[[IsAwaited], Found],
    patience_seconds: float,
) -> Found | None:
    """What the work gives, in a thread; None if it takes too long, or if too many large requests wait.

    It keeps its place until its thread has ended, also if nobody waits for it any more.
    """
    begun, given_up = Event(), Event()

    def in_thread() -> Found:
        begun.set()
        return work(lambda: not given_up.is_set())

    async def in_place() -> Found | None:
        with suppress(TooManyLarge):
            async with place:
                return await anyio.to_thread.run_sync(in_thread)
        return None

    task = under_way.tasks.started(in_place())
    try:
        done, _ = await asyncio.wait([task], timeout=patience_seconds)
        return task.result() if done else None
    finally:
        given_up.set()
        if not begun.is_set():
            task.cancel()


def _place(places: Places, call: GatewayRequest) -> AbstractAsyncContextManager[None]:
    caller: Caller = call.request.state.caller
    places.shares.active.note(caller.tenant)
    is_large = places.is_large(call.pieces, MANY_OF_CONVERSATION)
    return places.large.one(caller.tenant) if is_large else places.for_small(caller)


def _publish(gateway: Gateway, sent: Forwarded) -> None:
    tokens = () if sent.turn is None else (sent.turn.tokens, sent.turn.view_tokens)
    gateway.service.store.publish(GatewayCall(sent.outcome, *tokens))


def _prepare(
    gateway: Gateway, dialect: Dialect, call: GatewayRequest, read: list[AgentRequest], is_awaited: IsAwaited
) -> Forwarded:
    """The view, or what came. The request is added to `read` before its turn is taken, which may take too long."""
    try:
        body = loads_within(call.raw, gateway.settings)
    except (ValueError, LimitExceeded):
        return Forwarded(call.raw, GatewayOutcome.NOT_UNDERSTOOD)
    asked = None
    try:
        with gateway.under_way.one(call.tenant):
            asked = understood(dialect, body, marks_in(call.raw))
            read.append(asked)
            return _with_view(gateway.settings, call, asked, _turn(gateway, call, asked, is_awaited))
    except (InvalidMessage, LimitExceeded):
        return Forwarded(call.raw, GatewayOutcome.NOT_UNDERSTOOD)
    except UnknownModel as error:
        _report_unknown(error.model)
        return Forwarded(call.raw, GatewayOutcome.NO_VIEW, asked)
    except (CompactionError, TenantLimitReached) as error:
        logger.info("no view for a request of the gateway: %s", error)
        return Forwarded(call.raw, GatewayOutcome.NO_VIEW, asked)
    except Exception as error:  # noqa: BLE001 - a failure of ours never fails a call
        logger.warning("the gateway let a request pass: %s", describe(error))
        return Forwarded(call.raw, GatewayOutcome.FAILED, asked)


@lru_cache(maxsize=256)
def _report_unknown(model: str) -> None:
    """Report a model once."""
    logger.info(
        "no context window is known for the model %.80r: its requests go on as they come until its provider refuses "
        "one for its length. Set %s, or give the model's window in %s",
        model,
        variable("gateway_context_window"),
        variable("models_file"),
    )


def _turn(
    gateway: Gateway, call: GatewayRequest, asked: AgentRequest, is_awaited: IsAwaited, first_window: int | None = None
) -> Turn:
    return take_turn(
        gateway.service.store,
        call.tenant,
        asked,
        _scope(asked.dialect, call.request),
        replace(_defaults(gateway.settings), first_window=first_window),
        beginnings=gateway.beginnings,
        read_view=gateway.service.views.messages_at,
        is_awaited=is_awaited,
    )


def _with_view(settings: Settings, call: GatewayRequest, asked: AgentRequest, turn: Turn) -> Forwarded:
    if turn.wires is None:
        return Forwarded(call.raw, GatewayOutcome.WHOLE, asked, turn)
    if settings.gateway == "shadow":
        return Forwarded(call.raw, GatewayOutcome.SHADOW, asked, turn)
    body = asked.showing(turn.wires)
    offered = with_recall(asked, body) if settings.gateway_recall and takes_recall(asked) else None
    return Forwarded((offered or body).json(), GatewayOutcome.VIEW, asked, turn, offered)


def _scope(dialect: Dialect, request: Request) -> str:
    """The id of the conversation, if the caller or its agent names one; else "", and what was said decides."""
    names = (CONVERSATION_HEADER, *dialect.session_headers)
    return next(filter(None, map(request.headers.get, names)), "")


def _defaults(settings: Settings) -> Defaults:
    side_call_seconds = settings.gateway_side_call_seconds or None
    return Defaults(settings.policy_values, settings.gateway_context_window, side_call_seconds=side_call_seconds)


def _after_refusal(
    gateway: Gateway, call: GatewayRequest, refused: Forwarded, refusal: ProviderRefusal, is_awaited: IsAwaited
) -> Forwarded | None:
    verdict = verdict_of(refusal.text, call.upstream)
    found = None
    if verdict.retryable and refused.outcome is not GatewayOutcome.SENT_AGAIN:
        found = _shortened(gateway, call, refused, verdict, is_awaited)
    if found is None and refused.is_changed and refusal.may_be_of_form and not verdict.is_overflow:
        logger.info("a provider refused a view: the request goes on as it came")
        found = Forwarded(call.raw, GatewayOutcome.VIEW_REFUSED)
    if found is not None:
        _publish(gateway, found)
    return found


def _shortened(
    gateway: Gateway, call: GatewayRequest, refused: Forwarded, verdict: Verdict, is_awaited: IsAwaited
) -> Forwarded | None:
    asked, store = refused.asked, gateway.service.store
    if asked is None:
        return None
    patience = PATIENCE_SECONDS if refused.turn else LAST_PATIENCE_SECONDS
    try:
        store.publish(OverflowReported(verdict.provider if verdict.provider in PROVIDERS else OTHER))
        with gateway.under_way.one(call.tenant, patience):
            turn = refused.turn or _whole_turn(gateway, call, asked, is_awaited)
            relieved = relieved_turn(store, call.tenant, turn, verdict, gateway.service.views.messages_at)
        smaller = _with_view(gateway.settings, call, asked, relieved)
    except (CannotShrink, CompactionError, TenantLimitReached) as error:
        logger.info("a refused request of the gateway cannot be made shorter: %s", error)
        return None
    except Exception as error:  # noqa: BLE001 - the caller gets the refusal
        logger.warning("the gateway could not shorten a refused request: %s", describe(error))
        return None
    return replace(smaller, outcome=GatewayOutcome.SENT_AGAIN)


def _whole_turn(gateway: Gateway, call: GatewayRequest, asked: AgentRequest, is_awaited: IsAwaited) -> Turn:
    """The turn of a request that had none, with what was refused: all of the history, as it came."""
    turn = _turn(gateway, call, asked, is_awaited, None if known_model(asked.model) else BOUNDLESS)
    return replace(turn, view_tokens=turn.tokens)
