"""Foldline keeps long agent sessions inside the model's context window.

`compact` and `budget` are the library: messages in, compacted messages or a breakdown of tokens out. Nothing is read,
written or called by it.
"""

from __future__ import annotations

from foldline.engine.library import budget, compact

__all__ = ["budget", "compact"]
