"""Answers a model's calls of the recall tool that the gateway offered; the agent gets the answer that follows them.

Such an answer reaches the agent when it is complete: only its end says whether it calls the tool.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import httpx
from fastapi import Response

from foldline.engine.gateway.answers import Answer
from foldline.engine.gateway.dialects import AgentRequest, RequestBody
from foldline.engine.gateway.recalls import Exchange, continued, recalls_in, without_recall
from foldline.engine.messages import ToolCall
from foldline.log.gateway.turns import Turn
from foldline.log.use_cases.finding.recall import Answered, answer_call
from foldline.telemetry.logs import describe
from foldline_api.gateway.forwarding import Forwarded, Gateway
from foldline_api.gateway.hearing import Hearing, answer_in, keep
from foldline_api.gateway.overdue import PATIENCE_SECONDS
from foldline_api.gateway.upstream import passing, whole

logger = logging.getLogger(__name__)

# A model that asks more often in one answer gets no more.
MOST_ROUNDS: Final = 5
# The view is not made anew for what is found, so this has to fit beside it.
MOST_TOKENS: Final = 1_000
NOTHING_FOUND: Final = Answered("Recall does not work now. Go on without it.", is_error=True)
ENOUGH: Final = Answered("You have asked often enough. Go on with what you know.", is_error=True)

Send = Callable[[bytes], Awaitable[httpx.Response]]
Read = Callable[[httpx.Response], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Recalling:
    """One request in which the tool is offered.

    `send` sends another body to its provider, `read` reads an answer to its end; both end when the caller leaves.
    """

    gateway: Gateway
    tenant: str
    sent: Forwarded
    asked: AgentRequest
    turn: Turn
    offered: RequestBody
    send: Send
    read: Read

    async def answered(self, answer: httpx.Response) -> Response:
        """The first answer that does not call the tool; if the provider refuses to go on, one without the tool.

        Raises:
            UpstreamFailed: an answer broke off, or there is none to what follows it.
        """
        exchange = Exchange()
        raw = await self.read(answer)
        first = said = answer_in(self.asked.dialect, answer, raw)
        for rest in reversed(range(MOST_ROUNDS)):
            if said is None or not recalls_in(said.messages):
                break
            exchange = exchange.after(self.asked, said, await self._results(said, is_last=not rest))
            answer = await self.send(continued(self.offered, exchange).json())
            if not answer.is_success:
                return await self._without(answer)
            raw = await self.read(answer)
            said = answer_in(self.asked.dialect, answer, raw)
        if said is not None and recalls_in(said.messages):
            return await self._without(answer)
        if first is not None and said is not None:
            # The counts of the first are those of the view.
            counted = said._replace(prompt_tokens=first.prompt_tokens, output_tokens=first.output_tokens)
            await self._keep(counted, exchange)
        return whole(answer, raw, self.sent.headers)

    async def _keep(self, answer: Answer, exchange: Exchange) -> None:
        """Store the answer before the agent has it: its next request must find what led to it."""
        work = partial(keep, self.gateway, self.tenant, self.sent, answer, exchange.messages)
        with anyio.move_on_after(PATIENCE_SECONDS):
            await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    async def _without(self, refusal: httpx.Response) -> Response:
        await refusal.aclose()
        answer = await self.send(without_recall(self.offered).json())
        return passing(answer, self.sent.headers, Hearing(self.gateway, self.tenant, self.sent, answer))

    async def _results(self, said: Answer, *, is_last: bool) -> dict[str, Answered]:
        return {call.id: ENOUGH if is_last else await self._recalled(call) for call in recalls_in(said.messages)}

    async def _recalled(self, call: ToolCall) -> Answered:
        with anyio.move_on_after(PATIENCE_SECONDS):
            return await anyio.to_thread.run_sync(partial(self._recall, call), abandon_on_cancel=True)
        return NOTHING_FOUND

    def _recall(self, call: ToolCall) -> Answered:
        try:
            with self.gateway.under_way.one(self.tenant):
                return answer_call(self.gateway.service.store, self.tenant, self.turn.session_id, call, MOST_TOKENS)
        except Exception as error:  # noqa: BLE001 - a failure of ours never fails a call
            logger.warning("the gateway could not recall: %s", describe(error))
            return NOTHING_FOUND
