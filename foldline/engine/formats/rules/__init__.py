"""What each provider demands of a request, as checks on finished wire messages.

Written from the providers' documentation and sharing no code with the renderers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from foldline.engine.formats.rules import anthropic, gemini, native, openai, responses

__all__ = ["CHECKS", "check"]

Check: TypeAlias = Callable[[list[dict[str, Any]], Any], list[str]]

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "openai": openai.violations,
        "anthropic": anthropic.violations,
        "responses": responses.violations,
        "gemini": gemini.violations,
        "native": native.violations,
    }
)


def check(format_name: str, messages: list[dict[str, Any]], system: Any) -> list[str]:
    """The rules of a format that a request with these messages breaks, as sentences; empty if it is valid.

    Raises:
        KeyError: there is no format of this name.
    """
    return CHECKS[format_name](messages, system)
