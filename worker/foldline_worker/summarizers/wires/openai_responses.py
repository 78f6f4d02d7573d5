"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline_worker.summarizers.calls.endpoint import reported
from foldline_worker.summarizers.wires.contract import COMPLETE, Wire, WireAnswer, WireRequest, objects, text_in, within

_DONE: Final = frozenset({"response.completed", "response.incomplete"})
_FAILED: Final = frozenset({"error", "response.failed"})
REFUSAL: Final = "refusal"


def _body(request: WireRequest, _options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": request.model,
        **({} if request.instructions is None else {"instructions": request.instructions}),
        **request.tools,
        "input": [*request.before, {"role": "user", "content": request.user}],
        "max_output_tokens": request.max_tokens,
        "store": False,
        "stream": True,
    }


def _take(answer: WireAnswer, event: Mapping[str, Any]) -> None:
    kind = text_in(event.get("type"))
    if kind in _FAILED:
        raise reported(event.get("response") or event)
    if kind == "response.output_text.delta":
        answer.say(event.get("delta"))
    elif kind in _DONE:
        _end(answer, event.get("response"))
    elif event.get("object") == "response":
        answer.say(_said(event))
        _end(answer, event)


def _end(answer: WireAnswer, response: object) -> None:
    if not isinstance(response, dict):
        return
    answer.note_model(response.get("model"))
    usage = response.get("usage")
    answer.note_usage(usage, input="input_tokens", output="output_tokens")
    answer.note_usage(within(usage, "input_tokens_details"), cache_read="cached_tokens")
    items = objects(response.get("output"))
    answer.has_tool_calls |= any(text_in(item.get("type")).endswith("_call") for item in items)
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    parts = [part for item in items for part in objects(item.get("content"))]
    declined = any(part.get("type") == REFUSAL for part in parts)
    is_complete = response.get("status") == "completed"
    answer.finish_reason = REFUSAL if declined else COMPLETE if is_complete else text_in(reason) or None


def _said(response: Mapping[str, Any]) -> str:
    parts = (part for item in objects(response.get("output")) for part in objects(item.get("content")))
    return "".join(text_in(part.get("text")) for part in parts if part.get("type") == "output_text")


OPENAI_RESPONSES: Final = Wire(
    name="openai-responses",
    base_url="https://api.openai.com/v1",
    path=lambda _request, _options: "responses",
    headers=lambda key: {"Authorization": f"Bearer {key}"},
    body=_body,
    take=_take,
)
