"""The stages by name. A stage adds edits to a plan and reads no message."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from foldline.engine.planning.plan import StageFunction
from foldline.engine.planning.stages.collapse import collapse
from foldline.engine.planning.stages.deduplicate import deduplicate
from foldline.engine.planning.stages.microcompact import microcompact
from foldline.engine.planning.stages.prune import prune
from foldline.engine.planning.stages.strip import strip
from foldline.engine.planning.stages.summarize import summarize
from foldline.engine.planning.stages.truncate import truncate

STAGES: Final[Mapping[str, StageFunction]] = MappingProxyType(
    {
        "deduplicate": deduplicate,
        "prune": prune,
        "microcompact": microcompact,
        "strip": strip,
        "collapse": collapse,
        "summarize": summarize,
        "truncate": truncate,
    }
)
