"""The wire formats in which models are called, by name. A new one is a module and a row here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from foldline_worker.summarizers.wires.anthropic import ANTHROPIC
from foldline_worker.summarizers.wires.contract import Wire, WireAnswer, WireRequest
from foldline_worker.summarizers.wires.gemini import GEMINI
from foldline_worker.summarizers.wires.openai_chat import OPENAI_CHAT
from foldline_worker.summarizers.wires.openai_responses import OPENAI_RESPONSES

__all__ = ["WIRES", "Wire", "WireAnswer", "WireRequest"]

WIRES: Final[Mapping[str, Wire]] = MappingProxyType(
    {wire.name: wire for wire in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)}
)
