"""The named policies, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from compaction.policy import Policy, Stage

DEFAULT_PRESET: Final = "foldline"

PRESETS: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "foldline": Policy(
            preset="foldline",
            stages=(
                Stage("deduplicate"),
                Stage("prune", MappingProxyType({"minimum_tokens": 100})),
                Stage("summarize"),
                Stage("truncate"),
            ),
        ),
    }
)
