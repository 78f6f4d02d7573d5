"""The stages, by name. Each adds edits to a plan; none reads a message."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from compaction.plan import StageFunction
from compaction.stages.collapse import collapse
from compaction.stages.deduplicate import deduplicate
from compaction.stages.microcompact import microcompact
from compaction.stages.prune import prune
from compaction.stages.strip import strip
from compaction.stages.summarize import summarize
from compaction.stages.truncate import truncate

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
