"""How the models of three providers write signed reasoning, calls and results, and where a request has reasoning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from foldline.engine.formats.rules import check
from tests.support.log.sessions import Wire
from tests.support.responses_items import missing_reasoning

# What Gemini takes for a signature that cannot be shown.
STAND_IN = "skip_thought_signature_validator"


class Dialect(Protocol):
    """How a provider's messages say what a turn consists of."""

    name: str

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        """A model's answer, signed reasoning first; `calls` are ids and what to do."""
        ...

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        """The results of calls, by their ids."""
        ...

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        """The answers in a request."""
        ...


class Answer(NamedTuple):
    """An answer in a request: where it begins, its text, and whether its reasoning is there."""

    number: int
    text: str
    is_reasoned: bool


class Anthropic:
    """Messages of content blocks."""

    name = "anthropic"

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        thinking = {"type": "thinking", "thinking": thought, "signature": signature}
        tools = [{"type": "tool_use", "id": name, "name": "run", "input": {"do": do}} for name, do in calls]
        return [{"role": "assistant", "content": [thinking, {"type": "text", "text": text}, *tools]}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        blocks = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in results]
        return [{"role": "user", "content": blocks}]

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        for number, message in enumerate(messages):
            content = message["content"]
            if message["role"] == "assistant" and not isinstance(content, str):
                text = next((block["text"] for block in content if block["type"] == "text"), "")
                yield Answer(number, text, any(block["type"] == "thinking" for block in content))


class Responses:
    """A flat list of items, with ids that name the reasoning that led to them."""

    name = "responses"

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        said = [{"type": "output_text", "text": text}]
        return [
            {"type": "reasoning", "id": f"rs_{text}", "summary": [], "encrypted_content": signature},
            {"type": "message", "id": f"it_{text}", "role": "assistant", "content": said, "note": thought},
            *(
                {"type": "function_call", "call_id": name, "name": "run", "arguments": json.dumps({"do": do})}
                for name, do in calls
            ),
        ]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        return [{"type": "function_call_output", "call_id": name, "output": text} for name, text in results]

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        assert check(self.name, list(messages), None) == []
        assert missing_reasoning(messages) == []
        for number, item in enumerate(messages):
            if item.get("role") == "assistant":
                is_reasoned = messages[number - 1].get("type") == "reasoning"
                yield Answer(number - is_reasoned, item["content"][0]["text"], is_reasoned)


class Gemini:
    """Turns of parts, of which the first call, or else the text, has the signature."""

    name = "gemini"

    def answer(self, text: str, thought: str, signature: str, calls: Sequence[tuple[str, str]]) -> list[Wire]:
        said = {"text": text}
        made = [{"functionCall": {"name": "run", "args": {"do": do}}} for _, do in calls]
        signed: Wire = made[0] if made else said
        signed["thoughtSignature"] = signature
        return [{"role": "model", "parts": [{"text": thought, "thought": True}, said, *made]}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Wire]:
        parts = [{"functionResponse": {"name": "run", "response": {"output": text}}} for _, text in results]
        return [{"role": "user", "parts": parts}]

    def answers(self, messages: Sequence[Wire]) -> Iterator[Answer]:
        assert check(self.name, list(messages), None) == []
        for number, message in enumerate(messages):
            if message["role"] == "model":
                texts = [part["text"] for part in message["parts"] if "text" in part and not part.get("thought")]
                signatures = {part["thoughtSignature"] for part in message["parts"] if "thoughtSignature" in part}
                yield Answer(number, texts[0] if texts else "", bool(signatures - {STAND_IN}))


# The models of a session, of three providers, and how each speaks.
DIALECTS: Mapping[str, Dialect] = {
    "anthropic/claude-opus-5": Anthropic(),
    "anthropic/claude-sonnet-5": Anthropic(),
    "openai/gpt-5.4": Responses(),
    "google/gemini-3-pro": Gemini(),
}
