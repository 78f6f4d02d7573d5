"""What a provider gets in place of a request: a view of its conversation, or the request as it came."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
from fastapi import Request

from foldline.engine.errors import CompactionError, InvalidMessage
from foldline.engine.gateway.dialects import AgentRequest, Dialect, understood
from foldline.engine.overflow import PROVIDERS, verdict_of
from foldline.engine.wire import dumps, loads_bounded
from foldline.log.events import OTHER, GatewayCall, GatewayOutcome, OverflowReported
from foldline.log.gateway.beginnings import Beginnings
from foldline.log.gateway.turns import Defaults, Turn, relieved_turn, take_turn
from foldline.settings import Settings
from foldline.telemetry.logs import describe
from foldline_api.gateway.upstream import Upstreams
from foldline_api.service import AppState

logger = logging.getLogger(__name__)

CONVERSATION_HEADER: Final = "x-foldline-conversation"
MODE_HEADER: Final = "x-foldline"
# For so long a request waits for its view; then it goes on as it came.
PATIENCE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Gateway:
    """What the routes of one application share."""

    service: AppState
    upstreams: Upstreams
    beginnings: Beginnings

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
    raw: bytes


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What the provider gets, and the session that it is of; None if the request goes on as it came."""

    body: bytes
    asked: AgentRequest | None = None
    turn: Turn | None = None

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


async def forwarded(gateway: Gateway, dialect: Dialect, call: GatewayRequest) -> Forwarded:
    """The view that takes the conversation's place. Whatever goes wrong with it, the request goes on as it came."""
    as_it_came = Forwarded(call.raw)
    if GatewayOutcome.OFF in {gateway.settings.gateway, call.request.headers.get(MODE_HEADER)}:
        gateway.service.store.publish(GatewayCall(GatewayOutcome.OFF))
        return as_it_came
    found, outcome = as_it_came, GatewayOutcome.TOO_SLOW
    with anyio.move_on_after(PATIENCE_SECONDS):
        work = partial(_prepare, gateway, dialect, call)
        found, outcome = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    gateway.service.store.publish(_event(outcome, found.turn))
    return found


def _event(outcome: GatewayOutcome, turn: Turn | None) -> GatewayCall:
    return GatewayCall(outcome) if turn is None else GatewayCall(outcome, turn.tokens, turn.view_tokens)


def _prepare(gateway: Gateway, dialect: Dialect, call: GatewayRequest) -> tuple[Forwarded, GatewayOutcome]:
    tenant: str = call.request.state.tenant
    try:
        asked = understood(dialect, loads_bounded(call.raw))
        store, scope, defaults = gateway.service.store, _scope(dialect, call.request), _defaults(gateway.settings)
        turn = take_turn(store, tenant, asked, scope, defaults, beginnings=gateway.beginnings)
        return _with_view(call, asked, turn, gateway.settings.gateway)
    except (InvalidMessage, ValueError):
        return Forwarded(call.raw), GatewayOutcome.NOT_UNDERSTOOD
    except CompactionError as error:
        logger.info("no view for a request of the gateway: %s", error)
        return Forwarded(call.raw), GatewayOutcome.NO_VIEW
    except Exception as error:  # noqa: BLE001 - a failure of ours never fails a call
        logger.warning("the gateway let a request pass: %s", describe(error))
        return Forwarded(call.raw), GatewayOutcome.FAILED


def _with_view(call: GatewayRequest, asked: AgentRequest, turn: Turn, mode: str) -> tuple[Forwarded, GatewayOutcome]:
    if turn.messages is None:
        return Forwarded(call.raw, asked, turn), GatewayOutcome.WHOLE
    if mode == GatewayOutcome.SHADOW:
        return Forwarded(call.raw, asked, turn), GatewayOutcome.SHADOW
    return Forwarded(dumps(asked.showing(turn.messages)), asked, turn), GatewayOutcome.VIEW


def _scope(dialect: Dialect, request: Request) -> str:
    """The id of the conversation, if the caller or its agent names one; else "", and what was said decides."""
    names = (CONVERSATION_HEADER, *dialect.session_headers)
    return next(filter(None, map(request.headers.get, names)), "")


def _defaults(settings: Settings) -> Defaults:
    return Defaults(settings.policy_values, settings.gateway_context_window)


def forwarded_again(gateway: Gateway, call: GatewayRequest, refused: Forwarded, refusal: str) -> Forwarded | None:
    """A smaller view after a refusal for length; None if it was refused for something else, or nothing can be done."""
    asked, turn, store = refused.asked, refused.turn, gateway.service.store
    if asked is None or turn is None or gateway.settings.gateway != "on":
        return None
    try:
        verdict = verdict_of(refusal, call.upstream)
        if not verdict.retryable:
            return None
        store.publish(OverflowReported(verdict.provider if verdict.provider in PROVIDERS else OTHER))
        relieved = relieved_turn(store, call.request.state.tenant, asked, turn, verdict)
        smaller, outcome = _with_view(call, asked, relieved, gateway.settings.gateway)
    except Exception as error:  # noqa: BLE001 - the caller gets the refusal
        logger.warning("the gateway could not shorten a refused request: %s", describe(error))
        return None
    store.publish(_event(GatewayOutcome.SENT_AGAIN if outcome is GatewayOutcome.VIEW else outcome, relieved))
    return smaller
