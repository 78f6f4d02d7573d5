"""Google's Gemini: `generateContent`, streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from foldline_worker.summarizers.wires.contract import COMPLETE, Wire, WireAnswer, WireRequest, objects, text_in

_STOP: Final = "STOP"
BLOCKED: Final = "blocked"


def _body(request: WireRequest, _options: Mapping[str, Any]) -> dict[str, Any]:
    system = request.instructions
    return {
        **({} if system is None else {"systemInstruction": {"parts": [{"text": system}]}}),
        **request.tools,
        "contents": [*request.before, {"role": "user", "parts": [{"text": request.user}]}],
        "generationConfig": {"maxOutputTokens": request.max_tokens},
    }


def _take(answer: WireAnswer, event: Mapping[str, Any]) -> None:
    answer.note_model(event.get("modelVersion"))
    usage = event.get("usageMetadata")
    names = {"input": "promptTokenCount", "output": "candidatesTokenCount", "cache_read": "cachedContentTokenCount"}
    # What is 0 is left out.
    answer.note_usage({"cachedContentTokenCount": 0, **usage} if isinstance(usage, dict) else usage, **names)
    feedback = event.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        answer.finish_reason = BLOCKED
    for candidate in objects(event.get("candidates"))[:1]:
        content = candidate.get("content")
        for part in objects(content.get("parts")) if isinstance(content, dict) else ():
            if not part.get("thought"):
                answer.say(part.get("text"))
            answer.has_tool_calls |= "functionCall" in part
        if reason := text_in(candidate.get("finishReason")):
            answer.finish_reason = COMPLETE if reason == _STOP else reason.lower()


GEMINI: Final = Wire(
    name="gemini",
    base_url="https://generativelanguage.googleapis.com",
    path=lambda request, _options: f"v1beta/models/{quote(request.model, safe='')}:streamGenerateContent?alt=sse",
    headers=lambda key: {"x-goog-api-key": key},
    body=_body,
    take=_take,
)
