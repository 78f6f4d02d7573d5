"""OpenAI's chat completions, which vLLM, Ollama, llama.cpp, OpenRouter and Azure speak too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from foldline_worker.summarizers.wires.contract import Wire, WireAnswer, WireRequest, objects, text_in, within

# As a word of its own: proxies mention their upstream.
_STREAM: Final = re.compile(r"\bstream(?:ing|_options)?\b", re.IGNORECASE)
MAX_TOKENS: Final = "max_tokens"
MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"
# Options of a server: whether it streams, and the name of the limit.
WHOLE: Final = "whole"
LIMIT: Final = "limit"


def _body(request: WireRequest, options: Mapping[str, Any]) -> dict[str, Any]:
    # The messages of a view have its system prompt.
    before = request.before or [{"role": "system", "content": request.system}]
    messages = [*before, {"role": "user", "content": request.user}]
    limit = {options.get(LIMIT, MAX_TOKENS): request.max_tokens}
    body = {"model": request.model, "messages": messages, **request.tools, **limit}
    return body if options.get(WHOLE) else body | {"stream": True, "stream_options": {"include_usage": True}}


def _take(answer: WireAnswer, event: Mapping[str, Any]) -> None:
    answer.note_model(event.get("model"))
    usage = event.get("usage")
    answer.note_usage(usage, input="prompt_tokens", output="completion_tokens")
    answer.note_usage(within(usage, "prompt_tokens_details"), cache_read="cached_tokens")
    for choice in objects(event.get("choices"))[:1]:
        parts = (choice.get(name) for name in ("delta", "message"))
        said: dict[str, Any] = next((part for part in parts if isinstance(part, dict)), {})
        answer.say(said.get("content"))
        answer.has_tool_calls |= bool(said.get("tool_calls") or said.get("function_call"))
        answer.finish_reason = text_in(choice.get("finish_reason")) or answer.finish_reason


def _adapted(text: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if MAX_TOKENS in body and MAX_COMPLETION_TOKENS in text:
        return {LIMIT: MAX_COMPLETION_TOKENS}
    # Some servers do not support streaming or its options; they are sent requests without it.
    return {WHOLE: True} if "stream" in body and _STREAM.search(text) else None


OPENAI_CHAT: Final = Wire(
    name="openai-chat",
    base_url="https://api.openai.com/v1",
    path=lambda _request, _options: "chat/completions",
    headers=lambda key: {"Authorization": f"Bearer {key}"},
    body=_body,
    take=_take,
    adapted=_adapted,
)
