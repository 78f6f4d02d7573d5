"""Foldline keeps long agent sessions inside the model's context window.

These functions are the library: messages in, compacted messages or a breakdown of tokens out, and the same for single
texts. Nothing is read, written or called by it. `docs/library.md` shows each.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

__all__ = ["InMemorySession", "budget", "compact", "context_count", "count_tokens", "fit_text", "limit_output"]

if TYPE_CHECKING:
    from foldline.engine.in_memory_session import InMemorySession
    from foldline.engine.library import budget, compact
    from foldline.engine.texts import count_tokens, fit_text
    from foldline.engine.tokens.estimates import context_count
    from foldline.engine.tokens.output_limits import limit_output
else:
    _MODULES: Final = MappingProxyType(
        {
            "InMemorySession": "in_memory_session",
            "budget": "library",
            "compact": "library",
            "context_count": "tokens.estimates",
            "count_tokens": "texts",
            "fit_text": "texts",
            "limit_output": "tokens.output_limits",
        }
    )

    def __getattr__(name: str) -> Any:
        """The library's functions, loaded when they are first used: `foldline --help` does without them."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"foldline.engine.{_MODULES[name]}"), name)
