"""Foldline keeps long agent sessions inside the model's context window.

`compact` and `budget` are the library: messages in, compacted messages or a breakdown of tokens out. Nothing is read,
written or called by it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["budget", "compact"]

if TYPE_CHECKING:
    from foldline.engine.library import budget, compact
else:

    def __getattr__(name: str) -> Any:
        """The library's functions, loaded when they are first used: `foldline --help` does without them."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("foldline.engine.library"), name)
